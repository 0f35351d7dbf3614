// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One row times panels of weights: the code that all types of weights share.
// Included only by the *_isa.cc files of this family.

#ifndef MACE_KERNELS_CPU_GEMM_GEMM_VECTOR_H_
#define MACE_KERNELS_CPU_GEMM_GEMM_VECTOR_H_

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/gemm_tile.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

inline constexpr int kPanelVectors = kPanelWidth / sv::kLanes;
// Interleaved chains hide the latency of an FMA (4 cycles, two per cycle).
inline constexpr int kChains = kPanelVectors == 1   ? 8
                               : kPanelVectors == 2 ? 4
                                                    : 2;

using Chains = sv::V[kChains][kPanelVectors];

// The epilogue of one panel, once for all types of weights: inlined, it would
// be larger than the products of each type.
static __attribute__((noinline)) void StorePanel(
    const Vector &x, size_t panel, const sv::V (&sums)[kPanelVectors]) {
  const sv::V low = sv::Set(x.epilogue.low);
  const sv::V high = sv::Set(x.epilogue.high);
  const auto *residual = static_cast<const float *>(x.epilogue.residual);
  MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
    const size_t column =
        panel * kPanelColumns + static_cast<size_t>(v * sv::kLanes);
    if (column >= x.columns) break;
    const size_t left = x.columns - column;
    const int n = left < static_cast<size_t>(sv::kLanes)
                      ? static_cast<int>(left)
                      : sv::kLanes;
    sv::V y = sums[v];
    if (x.epilogue.bias != nullptr) {
      y += sv::LoadN(x.epilogue.bias + column, n);
    }
    if (residual != nullptr) {
      y += sv::LoadN(residual + column, n);
    }
    if (x.epilogue.clamp) y = sv::Clamp(y, low, high);
    sv::StoreN(x.y + column, y, n);
  }
}

// For every panel, multiply(panel, acc) adds its products to the chains; then
// the epilogue follows.
template <typename MultiplyPanel>
MACE_SIMD_INLINE void RunPanels(const Vector &x, MultiplyPanel multiply) {
  for (size_t panel = x.panel_begin; panel < x.panel_end; ++panel) {
    Chains acc = {};
    multiply(panel, acc);
    MACE_UNROLL for (int half = kChains / 2; half > 0; half /= 2) {
      for (int u = 0; u < half; ++u) {
        MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
          acc[u][v] += acc[u + half][v];
        }
      }
    }
    sv::V sums[kPanelVectors];
    MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) sums[v] = acc[0][v];
    StorePanel(x, panel, sums);
  }
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_GEMM_VECTOR_H_
