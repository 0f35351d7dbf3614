// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The inner loop of products of int16, for x86. Included only by
// quantized_isa.cc.

#ifndef MACE_KERNELS_CPU_WINOGRAD_X86_QUANTIZED_TILE_H_
#define MACE_KERNELS_CPU_WINOGRAD_X86_QUANTIZED_TILE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_int16.h"
#include "mace/kernels/cpu/simd_vector.h"

namespace mace::winograd::MACE_ISA {
namespace sv = simd::MACE_ISA;

inline constexpr int kTileRows = 4;
inline constexpr int kTileVectors = 2;
inline constexpr bool kPairsChannels = true;

// Adds the products of `steps` times eight channels; moves `a` behind them.
// a: [steps][4][8], w: [steps * 4][kTileVectors * kLanes][2].
MACE_SIMD_INLINE void AddChannels(const int16_t *&a,
                                  const int16_t *w,
                                  size_t steps,
                                  sv::VI (&s)[kTileRows][kTileVectors]) {
#pragma clang loop unroll(disable)
  for (; steps > 0; --steps, a += kTileRows * 8) {
    _Pragma("clang loop unroll(full)") for (int pair = 0; pair < 4; ++pair) {
      sv::VI weights[kTileVectors];
      __builtin_memcpy(weights, w, sizeof(weights));
      w += kTileVectors * sv::kLanes * 2;
      _Pragma("clang loop unroll(full)") for (int r = 0; r < kTileRows; ++r) {
        int32_t bits;
        __builtin_memcpy(&bits, a + r * 8 + pair * 2, sizeof(bits));
        const sv::VI x = sv::SetInt(bits);
        _Pragma("clang loop unroll(full)") for (int v = 0; v < kTileVectors;
                                                ++v) {
          const sv::VI products = sv::AddPairs({}, x, weights[v]);
          s[r][v] = reinterpret_cast<sv::VI>(
              reinterpret_cast<sv::VU>(s[r][v]) +
              reinterpret_cast<sv::VU>(products));  // modulo 2^32
        }
      }
    }
  }
}

}  // namespace mace::winograd::MACE_ISA

#endif  // MACE_KERNELS_CPU_WINOGRAD_X86_QUANTIZED_TILE_H_
