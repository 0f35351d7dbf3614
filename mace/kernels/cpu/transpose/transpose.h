// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_KERNELS_CPU_TRANSPOSE_TRANSPOSE_H_
#define MACE_KERNELS_CPU_TRANSPOSE_TRANSPOSE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::transpose {

// y[c * y_stride + r] = x[r * x_stride + c] for r < rows and c < columns;
// strides count elements. Elements are copied bit by bit. x and y must not
// overlap.
using Matrix = void (*)(const void *x,
                        size_t x_stride,
                        void *y,
                        size_t y_stride,
                        size_t rows,
                        size_t columns);

struct Kernels {
  // For elements of 1, 2, 4 and 8 bytes.
  Matrix matrix8;
  Matrix matrix16;
  Matrix matrix32;
  Matrix matrix64;
  // The same for 4 bytes, if y is read much later: what it writes goes to
  // memory, and its place there is not read first. Null if nothing is gained.
  Matrix matrix32_to_memory;
};

// For elements of `size` bytes, which is one of these.
inline Matrix MatrixOf(const Kernels &kernels, int64_t size) {
  switch (size) {
    case 1:
      return kernels.matrix8;
    case 2:
      return kernels.matrix16;
    case 4:
      return kernels.matrix32;
    default:
      return kernels.matrix64;
  }
}

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::transpose

#endif  // MACE_KERNELS_CPU_TRANSPOSE_TRANSPOSE_H_
