// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Pooling of channels that are volumes of their own, in two steps. Across rows,
// y[i] is the maximum or the sum of element i of some rows; then along rows,
//
//   max      y[i] = max over k of x[i * stride + k * dilation]
//   average  y[i] = sum over k of x[...] / (row_divisor * divisors[i])
//
// A NaN in a window gives NaN. y must not overlap x.

#ifndef MACE_KERNELS_CPU_POOL_LINES_H_
#define MACE_KERNELS_CPU_POOL_LINES_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::pool {

// The rows of a window; at least one.
struct Across {
  const float *x = nullptr;
  size_t planes = 0;
  size_t rows = 0;  // of each plane
  ptrdiff_t plane_stride = 0;
  ptrdiff_t row_stride = 0;
  size_t width = 0;
  float *y = nullptr;
};

struct Along {
  const float *x = nullptr;  // [rows][x_stride]
  size_t x_stride = 0;       // at least LineFloats
  size_t rows = 0;
  size_t outputs = 0;
  size_t kernel = 1;
  size_t stride = 1;
  size_t dilation = 1;
  const float *row_divisors = nullptr;  // [rows]; only for averages
  const float *divisors = nullptr;      // [outputs]; only for averages
  float *y = nullptr;                   // [rows][outputs]
};

// Floats of a row of x that are read, those for outputs beyond the last one
// included, which may be any.
inline constexpr size_t LineFloats(size_t outputs,
                                   size_t kernel,
                                   size_t stride,
                                   size_t dilation) {
  constexpr size_t kMostLanes = 16;
  const size_t whole = (outputs + kMostLanes - 1) / kMostLanes * kMostLanes;
  return whole * stride + (kernel - 1) * dilation;
}

struct LineKernels {
  void (*max_across)(const Across &rows);
  void (*sum_across)(const Across &rows);
  void (*max_along)(const Along &rows);
  void (*average_along)(const Along &rows);
};

// Never null for an ISA other than CpuIsa::kNone.
const LineKernels *LineKernelsFor(CpuIsa isa);

// Them again, where images with few channels are pooled by them: a library for
// models without such is built without (optional_kernels.h).
struct FewChannelsPart {
  const LineKernels *(*find)(CpuIsa isa);
};

}  // namespace mace::pool

#endif  // MACE_KERNELS_CPU_POOL_LINES_H_
