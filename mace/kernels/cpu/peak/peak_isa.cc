// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/peak/peak.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::peak::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

// A multiply-add takes 4 cycles on current cores; most start two per cycle,
// some wide ARM cores four. So 8 to 16 chains keep the units busy. One more
// register holds the factor; on ISAs with 16 registers the others are left for
// the separate product of a multiply-add that is not fused.
constexpr int kChains = sv::kRegisters >= 32 ? 24 : 12;
// Makes the loop overhead negligible.
constexpr int kUnroll = 8;

constexpr float Start(int chain) {
  return 1.0f + 0.01f * static_cast<float>(chain);
}

// Adds a small part of the next chain to every chain. This form needs no copy
// of a register, although ARM overwrites the addend. The chains grow without a
// denormal or NaN, finally to infinity, which takes no longer.
float MultiplyAdd(int64_t rounds) {
  sv::V chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = sv::Set(Start(c));
  // volatile, so that the compiler does not know the value.
  volatile float factor = kPeakGrowth;
  const sv::V part = sv::Set(factor);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma clang loop unroll(full)
    for (int u = 0; u < kUnroll; ++u) {
#pragma clang loop unroll(full)
      for (int c = 0; c < kChains; ++c) {
        chain[c] = sv::Fma(part, chain[(c + 1) % kChains], chain[c]);
      }
    }
  }
  sv::V sum = chain[0];
  float start = Start(0);
  for (int c = 1; c < kChains; ++c) {
    sum = sum + chain[c];
    start += Start(c);
  }
  float result = 0;
  for (int i = 0; i < sv::kLanes; ++i) result += sum[i];
  return result / (start * sv::kLanes);
}

void Triad(const float *a, const float *b, float s, float *c, size_t n) {
  const sv::V scale = sv::Set(s);
  size_t i = 0;
  for (; i + sv::kLanes <= n; i += sv::kLanes) {
    sv::Store(c + i, sv::Fma(sv::Load(b + i), scale, sv::Load(a + i)));
  }
  for (; i < n; ++i) c[i] = a[i] + s * b[i];
}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {MultiplyAdd, int64_t{kUnroll} * kChains *sv::kLanes,
                          Triad};

}  // namespace mace::peak::MACE_ISA
