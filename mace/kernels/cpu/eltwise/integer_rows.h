// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops over rows, and the choice of a mode, that kernels of integers of
// any size share. A `Kernel` has
//
//   Element, Params                the types of elements and parameters
//   explicit Kernel(const Params &)
//   template <QuantizedMode kMode>
//   void Run(const Operand<Element> &a, const Operand<Element> &b,
//            size_t columns, Element *y) const    one row

#ifndef MACE_KERNELS_CPU_ELTWISE_INTEGER_ROWS_H_
#define MACE_KERNELS_CPU_ELTWISE_INTEGER_ROWS_H_

#include <cstddef>

#include "mace/kernels/cpu/eltwise/quantized_eltwise.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::eltwise::MACE_ISA {
namespace {

// An operand of a row: its elements, or one for all.
template <typename Element>
struct Operand {
  const Element *from;
  bool scalar;
};

template <typename Kernel, QuantizedMode kMode>
void RunRows(const typename Kernel::Params &p,
             const Rows &rows,
             const typename Kernel::Element *a,
             const typename Kernel::Element *b,
             typename Kernel::Element *y) {
  const Kernel kernel(p);
  for (size_t r = 0; r < rows.rows; ++r) {
    kernel.template Run<kMode>({a, rows.a_scalar}, {b, rows.b_scalar},
                               rows.columns, y);
    a += rows.a_row_stride;
    b += rows.b_row_stride;
    y += rows.columns;
  }
}

template <typename Kernel>
void RunMode(const typename Kernel::Params &p,
             const Rows &rows,
             const typename Kernel::Element *a,
             const typename Kernel::Element *b,
             typename Kernel::Element *y) {
  switch (p.mode) {
    case QuantizedMode::kSum:
      return RunRows<Kernel, QuantizedMode::kSum>(p, rows, a, b, y);
    case QuantizedMode::kProduct:
      return RunRows<Kernel, QuantizedMode::kProduct>(p, rows, a, b, y);
    case QuantizedMode::kMax:
      return RunRows<Kernel, QuantizedMode::kMax>(p, rows, a, b, y);
    case QuantizedMode::kMin:
      return RunRows<Kernel, QuantizedMode::kMin>(p, rows, a, b, y);
  }
}

}  // namespace
}  // namespace mace::eltwise::MACE_ISA

#endif  // MACE_KERNELS_CPU_ELTWISE_INTEGER_ROWS_H_
