// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/peak/peak.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_dot.h"

namespace mace::peak::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

#if defined(__SSE4_1__) || defined(__ARM_FEATURE_DOTPROD)
constexpr int kFours = 1;
#else
constexpr int kFours = 2;  // DotTwice
#endif

// As many independent sums as registers allow: besides them there are the
// operands, and the products where no instruction adds them by itself.
constexpr int kOperandVectors =
    kFours * static_cast<int>((sizeof(sv::DotX) + sizeof(sv::DotWeights)) /
                              sizeof(sv::VI));
constexpr int kSumVectors = sv::kRegisters >= 32  ? 24
                            : kOperandVectors > 2 ? 8
                                                  : 12;
constexpr int kChains =
    kSumVectors * static_cast<int>(sizeof(sv::VI)) / sizeof(sv::DotSum);
// Makes the loop overhead negligible.
constexpr int kUnroll = 8;

// Keeps the compiler from computing products of the same operands only once. No
// instruction.
#if defined(__SSE4_1__)
MACE_SIMD_INLINE void Renew(sv::VI *x) { __asm__("" : "+v"(*x)); }
template <typename Pairs>
MACE_SIMD_INLINE void Renew(Pairs *x) {
  Renew(&x->even);
  Renew(&x->odd);
}
#else
MACE_SIMD_INLINE void Renew(sv::DotX *x) { __asm__("" : "+w"(*x)); }
#endif

MACE_SIMD_INLINE sv::DotSum Add(sv::DotSum sum,
                                const sv::DotX (&x)[kFours],
                                const sv::DotWeights (&w)[kFours]) {
  if constexpr (kFours == 1) {
    return sv::Dot4(sum, x[0], w[0]);
#if !defined(__SSE4_1__) && !defined(__ARM_FEATURE_DOTPROD)
  } else {
    return sv::DotTwice(sum, x, w);
#endif
  }
}

// Adds products of 1 and 1.
int64_t MultiplyAdd(int64_t rounds) {
  sv::DotSum chain[kChains];
  for (sv::DotSum &sum : chain) sum = sv::SetDotSum(sv::SetInt(0));
  sv::DotX x[kFours];
  sv::DotWeights w[kFours];
  for (int i = 0; i < kFours; ++i) {
    x[i] = sv::SetDotRow(0x01010101);
    w[i] = sv::PrepareDot(reinterpret_cast<sv::VDot>(sv::SetInt(0x01010101)));
  }
  for (int64_t r = 0; r < rounds; ++r) {
#pragma clang loop unroll(full)
    for (int u = 0; u < kUnroll; ++u) {
#pragma clang loop unroll(full)
      for (int c = 0; c < kChains; ++c) {
        for (sv::DotX &four : x) Renew(&four);
        chain[c] = Add(chain[c], x, w);
      }
    }
  }
  int64_t result = 0;
  for (const sv::DotSum &sum : chain) {
    const sv::VI lanes = sv::DotLanes(sum);
    for (int i = 0; i < sv::kLanes; ++i) result += lanes[i];
  }
  return result;
}

}  // namespace

extern const Int8Kernels kInt8Kernels;
const Int8Kernels kInt8Kernels = {
    MultiplyAdd,
    int64_t{kUnroll} * kChains *kFours *sv::kDotFour *sv::kLanes,
};

}  // namespace mace::peak::MACE_ISA
