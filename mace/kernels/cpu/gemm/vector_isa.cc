// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One row times panels of float or 16-bit weights.

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/gemm_tile.h"
#include "mace/kernels/cpu/gemm/gemm_vector.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

void RunVector(const Vector &vector);  // for gemm_isa.cc

namespace {

// Adds the products of one panel, w: [depth][16].
template <typename T, typename LoadWeights>
MACE_SIMD_INLINE void Multiply(const Vector &x,
                               const T *w,
                               Chains &acc,
                               LoadWeights load) {
  size_t k = 0;
  for (; k + kChains <= x.depth; k += kChains) {
    MACE_UNROLL for (int u = 0; u < kChains; ++u) {
      const sv::V a = sv::Set(x.x[k + static_cast<size_t>(u)]);
      MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
        acc[u][v] =
            sv::Fma(a, load(w + u * kPanelWidth + v * sv::kLanes), acc[u][v]);
      }
    }
    w += kChains * kPanelWidth;
  }
  for (; k < x.depth; ++k, w += kPanelWidth) {
    const sv::V a = sv::Set(x.x[k]);
    MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
      acc[0][v] = sv::Fma(a, load(w + v * sv::kLanes), acc[0][v]);
    }
  }
}

// The same for w: [depth / 2][16][2].
MACE_SIMD_INLINE void MultiplyPairs(const Vector &x,
                                    const uint16_t *w,
                                    Chains &acc) {
  auto step = [&](size_t at, int u) __attribute__((always_inline)) {
    const sv::V earlier = sv::Set(x.x[at]);
    const sv::V later = sv::Set(x.x[at + 1]);
    MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
      const sv::VU pairs =
          sv::LoadBf16Pairs(w + u * kPanelWidth + 2 * v * sv::kLanes);
      acc[u][v] = sv::Fma(earlier, sv::EarlierBf16(pairs), acc[u][v]);
      acc[u + 1][v] = sv::Fma(later, sv::LaterBf16(pairs), acc[u + 1][v]);
    }
  };
  size_t k = 0;
  for (; k + kChains <= x.depth; k += kChains) {
    MACE_UNROLL for (int u = 0; u < kChains; u += 2) {
      step(k + static_cast<size_t>(u), u);
    }
    w += kChains * kPanelWidth;
  }
  for (; k < x.depth; k += 2, w += 2 * kPanelWidth) step(k, 0);
}

template <typename T, typename LoadWeights>
MACE_SIMD_INLINE void RunPanelsOf(const Vector &x, LoadWeights load) {
  const T *w = static_cast<const T *>(x.w);
  const size_t stride = x.depth * kPanelColumns;
  RunPanels(x, [&](size_t panel, Chains &acc) __attribute__((always_inline)) {
    Multiply(x, w + panel * stride, acc, load);
  });
}

}  // namespace

void RunVector(const Vector &x) {
  switch (x.w_type) {
    case WeightType::kF32:
      RunPanelsOf<float>(x, [](const float *p) __attribute__((always_inline)) {
        return sv::Load(p);
      });
      break;
    case WeightType::kF16:
      RunPanelsOf<uint16_t>(x, [](const uint16_t *p) __attribute__((
                                   always_inline)) { return sv::LoadF16(p); });
      break;
    case WeightType::kBf16:
      RunPanelsOf<uint16_t>(x, [](const uint16_t *p) __attribute__((
                                   always_inline)) { return sv::LoadBf16(p); });
      break;
    case WeightType::kBf16Pairs: {
      const uint16_t *w = static_cast<const uint16_t *>(x.w);
      const size_t stride = x.depth * kPanelColumns;
      RunPanels(x,
                [&](size_t panel, Chains &acc) __attribute__((always_inline)) {
                  MultiplyPairs(x, w + panel * stride, acc);
                });
      break;
    }
    case WeightType::kI8:  // int8_weights_isa.cc
    case WeightType::kI8Fours:
    case WeightType::kI8Steps:
      break;
  }
}

}  // namespace mace::gemm::MACE_ISA
