// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Adds up the columns that a product computed for a transposed convolution, at
// the places of its outputs ("col2im").
//
//   to[t * to_step + x] = clamp(bias[x] + sum over k of
//                               from[k][t * from_step + x])
//   for t < count, x < length
//
// Order of summation: bias first, then k ascending. Dividing the outputs into
// calls does not change a bit.

#ifndef MACE_KERNELS_CPU_COL2IM_COL2IM_H_
#define MACE_KERNELS_CPU_COL2IM_COL2IM_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::col2im {

// The number of floats after the end of every run of `from` and `bias` that may
// be read; their values do not matter.
inline constexpr size_t kSlack = 15;

struct Runs {
  const float *const *from = nullptr;
  size_t terms = 0;  // of `from` in use; may be 0
  size_t from_step = 0;
  const float *bias = nullptr;  // [length]
  float *to = nullptr;          // must not overlap an input
  size_t to_step = 0;
  size_t length = 0;
  size_t count = 0;
  bool clamp = false;
  float low = 0.0f;
  float high = 0.0f;
};

struct Kernels {
  void (*add)(const Runs &runs);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::col2im

#endif  // MACE_KERNELS_CPU_COL2IM_COL2IM_H_
