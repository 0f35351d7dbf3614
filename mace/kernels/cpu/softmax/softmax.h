// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// y = exp(x - max) / sum of exp(x - max), or its logarithm
// x - max - log(sum), along one axis.

#ifndef MACE_KERNELS_CPU_SOFTMAX_SOFTMAX_H_
#define MACE_KERNELS_CPU_SOFTMAX_SOFTMAX_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::softmax {

struct RowOptions {
  bool log = false;
  float scale = 1.0f;  // greater than 0
};

struct Kernels {
  // Along contiguous rows, of scale * x: x, y are [rows][n] dense. y may be x.
  void (*rows)(const float *x,
               float *y,
               size_t rows,
               size_t n,
               const RowOptions &options);
  // Along a strided axis: element (i, c) is at i * stride + c, for i < n and
  // c < columns <= stride. y may be x.
  void (*columns)(const float *x,
                  float *y,
                  size_t n,
                  size_t stride,
                  size_t columns,
                  bool log);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::softmax

#endif  // MACE_KERNELS_CPU_SOFTMAX_SOFTMAX_H_
