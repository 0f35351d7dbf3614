// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Packs weights into panels of 16 columns at run time, for products whose
// second operand is computed (constants are already packed in the model file).

#ifndef MACE_KERNELS_CPU_GEMM_PACK_H_
#define MACE_KERNELS_CPU_GEMM_PACK_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

// Like transpose::Matrix, for elements of 4 bytes.
using TransposeFunction = void (*)(const void *x,
                                   size_t x_stride,
                                   void *y,
                                   size_t y_stride,
                                   size_t rows,
                                   size_t columns);

// A matrix B of [depth, columns]; element (k, n) is at
// b[k * depth_stride + n * column_stride]. One of the strides is 1.
struct PackArgs {
  const void *b = nullptr;
  Element b_type = Element::kF32;  // PackPanelsInPairs also takes kBf16
  size_t depth = 0;
  size_t columns = 0;
  size_t depth_stride = 0;
  size_t column_stride = 0;
  // Required unless column_stride is 1.
  TransposeFunction transpose = nullptr;
};

// The number of floats in all panels of B.
size_t PackedFloats(size_t depth, size_t columns);

// Writes panels [panel_begin, panel_end) of B to their place in `packed`
// ([panels][depth][16], panel 0 first); columns beyond the last are zero.
void PackPanels(const PackArgs &args,
                size_t panel_begin,
                size_t panel_end,
                float *packed);

// The same for pairs of bf16 (kBf16Pairs): the number of elements of all
// panels, with the depth rounded up to an even number;
size_t PackedPairNumbers(size_t depth, size_t columns);

// and the packing, to [panels][depth / 2][16][2]; the bf16 arithmetic narrows
// floats.
void PackPanelsInPairs(const PackArgs &args,
                       const Arithmetic &bf16,
                       size_t panel_begin,
                       size_t panel_end,
                       uint16_t *packed);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_PACK_H_
