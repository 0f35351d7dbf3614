// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Loops that do nothing but arithmetic, or nothing but memory traffic: the
// roof against which the time of an operator is judged. No model runs them.

#ifndef MACE_KERNELS_CPU_PEAK_PEAK_H_
#define MACE_KERNELS_CPU_PEAK_PEAK_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::peak {

// What a multiply-add of a chain adds to it, of its own size.
inline constexpr float kPeakGrowth = 0x1p-14f;

struct Kernels {
  // Runs `rounds` rounds of independent chains of vector multiply-adds that
  // stay in registers. Returns the mean over chains of what they are at the
  // end beside the start: each step multiplies by 1 + kPeakGrowth.
  float (*multiply_add)(int64_t rounds);
  // Scalar multiply-adds of one round.
  int64_t multiply_adds_per_round;
  // c[i] = a[i] + s * b[i], i < n: 12 bytes of traffic per element, plus the
  // 4 that a cache reads before it writes.
  void (*triad)(const float *a, const float *b, float s, float *c, size_t n);
};

// The loops for `isa`; null for CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::peak

#endif  // MACE_KERNELS_CPU_PEAK_PEAK_H_
