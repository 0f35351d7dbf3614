// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Loops of only arithmetic or only memory traffic: the roofline to which the
// time of an operator is compared. Models do not use them.

#ifndef MACE_KERNELS_CPU_PEAK_PEAK_H_
#define MACE_KERNELS_CPU_PEAK_PEAK_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::peak {

// The relative amount by which each multiply-add increases its chain.
inline constexpr float kPeakGrowth = 0x1p-14f;

struct Kernels {
  // Runs `rounds` rounds of independent chains of vector multiply-adds that
  // stay in registers. Returns the mean over chains of the final value divided
  // by the initial value: each step multiplies by 1 + kPeakGrowth.
  float (*multiply_add)(int64_t rounds);
  // Scalar multiply-adds of one round.
  int64_t multiply_adds_per_round;
  // c[i] = a[i] + s * b[i], i < n: 12 bytes of traffic per element, plus 4 that
  // the cache reads before it writes.
  void (*triad)(const float *a, const float *b, float s, float *c, size_t n);
};

struct Int8Kernels {
  // Runs `rounds` rounds of independent chains that add products of 8-bit
  // integers to sums of 32 bits, as quantized operators do, in registers.
  // Returns the number of multiply-adds, counted by the sums themselves.
  int64_t (*multiply_add)(int64_t rounds);
  // Scalar multiply-adds of one round.
  int64_t multiply_adds_per_round;
};

// The loops for `isa`; null for CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);
const Int8Kernels *Int8KernelsFor(CpuIsa isa);

}  // namespace mace::peak

#endif  // MACE_KERNELS_CPU_PEAK_PEAK_H_
