// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Moves are bound by memory, so one tile serves every ISA: 4 x 4 elements in
// four 128-bit registers, two rounds of interleaving.

#include "mace/kernels/cpu/transpose/transpose.h"

#include "mace/kernels/cpu/simd.h"

namespace mace::transpose::MACE_ISA {

namespace {

typedef uint32_t V4 __attribute__((vector_size(16)));

// Rows of a block: both the rows read and the 4 * kBlock columns written stay
// in L1 while it is worked through.
constexpr size_t kBlock = 32;

MACE_SIMD_INLINE V4 Load(const uint32_t *p) {
  V4 v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE void Store(uint32_t *p, V4 v) {
  __builtin_memcpy(p, &v, sizeof(v));
}

MACE_SIMD_INLINE void Tile(const uint32_t *x,
                           size_t x_stride,
                           uint32_t *y,
                           size_t y_stride) {
  const V4 a = Load(x);
  const V4 b = Load(x + x_stride);
  const V4 c = Load(x + 2 * x_stride);
  const V4 d = Load(x + 3 * x_stride);
  const V4 ac_low = __builtin_shufflevector(a, c, 0, 4, 1, 5);
  const V4 ac_high = __builtin_shufflevector(a, c, 2, 6, 3, 7);
  const V4 bd_low = __builtin_shufflevector(b, d, 0, 4, 1, 5);
  const V4 bd_high = __builtin_shufflevector(b, d, 2, 6, 3, 7);
  Store(y, __builtin_shufflevector(ac_low, bd_low, 0, 4, 1, 5));
  Store(y + y_stride, __builtin_shufflevector(ac_low, bd_low, 2, 6, 3, 7));
  Store(y + 2 * y_stride,
        __builtin_shufflevector(ac_high, bd_high, 0, 4, 1, 5));
  Store(y + 3 * y_stride,
        __builtin_shufflevector(ac_high, bd_high, 2, 6, 3, 7));
}

void Block(const uint32_t *x,
           size_t x_stride,
           uint32_t *y,
           size_t y_stride,
           size_t rows,
           size_t columns) {
  size_t c = 0;
  for (; c + 4 <= columns; c += 4) {
    size_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      Tile(x + r * x_stride + c, x_stride, y + c * y_stride + r, y_stride);
    }
    for (; r < rows; ++r) {
      for (size_t k = 0; k < 4; ++k) {
        y[(c + k) * y_stride + r] = x[r * x_stride + c + k];
      }
    }
  }
  for (; c < columns; ++c) {
    for (size_t r = 0; r < rows; ++r) {
      y[c * y_stride + r] = x[r * x_stride + c];
    }
  }
}

void Matrix(const void *x,
            size_t x_stride,
            void *y,
            size_t y_stride,
            size_t rows,
            size_t columns) {
  const uint32_t *from = static_cast<const uint32_t *>(x);
  uint32_t *to = static_cast<uint32_t *>(y);
  for (size_t r = 0; r < rows; r += kBlock) {
    const size_t count = rows - r < kBlock ? rows - r : kBlock;
    Block(from + r * x_stride, x_stride, to + r, y_stride, count, columns);
  }
}

}  // namespace

extern const Kernels kKernels = {Matrix};

}  // namespace mace::transpose::MACE_ISA
