// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the positions of the extremes of floats, over rows or columns.

#ifndef MACE_KERNELS_CPU_ARG_ARG_H_
#define MACE_KERNELS_CPU_ARG_ARG_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::arg {

// Which extreme is searched, and which of several equal elements is returned.
// NaN is more extreme than any number.
struct Wanted {
  bool smallest = false;
  bool last = false;
};

struct Kernels {
  // index[c] = the r < rows for which x[r * stride + c] is the extreme of
  // column c < columns. rows is at least 1 and below 2^31.
  void (*rows)(Wanted wanted,
               const float *x,
               size_t stride,
               size_t rows,
               size_t columns,
               int32_t *index);
  // Returns the same for x[i], i < n.
  int32_t (*row)(Wanted wanted, const float *x, size_t n);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::arg

#endif  // MACE_KERNELS_CPU_ARG_ARG_H_
