// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/peak/peak.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::peak::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

// A multiply-add takes 4 cycles on current cores, of which most start two per
// cycle, some wide ARM cores four: 8 to 16 chains keep the units busy. Two
// more registers hold the operands; the rest of a 16-register file is left to
// the separate product of ISAs without fused multiply-add.
constexpr int kChains = sv::kRegisters >= 32 ? 24 : 12;
// So that the loop's own counting vanishes.
constexpr int kUnroll = 8;

float MultiplyAdd(int64_t rounds) {
  sv::V chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = sv::Set(0.5f + 0.01f * c);
  // Converges to 1/(1 - x): no overflow, no denormal, however many rounds.
  // volatile: the compiler must not know the operands.
  volatile float x_value = 0.5f;
  volatile float y_value = 0.75f;
  const sv::V x = sv::Set(x_value);
  const sv::V y = sv::Set(y_value);
  for (int64_t r = 0; r < rounds; ++r) {
#pragma clang loop unroll(full)
    for (int u = 0; u < kUnroll; ++u) {
#pragma clang loop unroll(full)
      for (int c = 0; c < kChains; ++c) chain[c] = sv::Fma(chain[c], x, y);
    }
  }
  sv::V sum = chain[0];
  for (int c = 1; c < kChains; ++c) sum = sum + chain[c];
  float result = 0;
  for (int i = 0; i < sv::kLanes; ++i) result += sum[i];
  return result;
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
