// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Normalisation over neighbouring channels:
//   y[c] = x[c] / (bias + alpha * sum of x[k]^2, k in [c - before, c + after])
//          ^ beta

#ifndef MACE_KERNELS_CPU_LRN_LRN_H_
#define MACE_KERNELS_CPU_LRN_LRN_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::lrn {

struct Params {
  size_t before = 0;
  size_t after = 0;
  float alpha = 0;
  float beta = 0;
  float bias = 0;
};

struct Kernels {
  // x, y: [rows][channels] dense; y may be x. squares: scratch of before +
  // channels + after floats.
  void (*run)(const Params &params,
              const float *x,
              float *y,
              size_t rows,
              size_t channels,
              float *squares);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::lrn

#endif  // MACE_KERNELS_CPU_LRN_LRN_H_
