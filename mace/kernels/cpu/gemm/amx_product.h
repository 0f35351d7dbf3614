// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One K-block with the tiles of AMX: up to two tiles of rows times up to two
// panels. The sums stay in registers. Included only by amx_gemm_isa.cc.

#ifndef MACE_KERNELS_CPU_GEMM_AMX_PRODUCT_H_
#define MACE_KERNELS_CPU_GEMM_AMX_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/amx_rows.h"
#include "mace/kernels/cpu/gemm/amx_tile.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {
namespace {

constexpr size_t kMaxPanels = 2;
constexpr size_t kTileFloats = kTileRows * kPanelColumns;
constexpr ptrdiff_t kSumBytes = kPanelColumns * sizeof(float);
constexpr ptrdiff_t kPairBytes = 2 * kPanelColumns * sizeof(uint16_t);

enum Register {  // of row tile i and panel j
  kSums00,
  kSums01,
  kSums10,
  kSums11,
  kLeft0,
  kLeft1,
  kRight0,
  kRight1,
};

// Configures the shapes of the registers if they have changed.
class Shapes {
 public:
  void Set(size_t rows0, size_t rows1, size_t step) {
    if (rows0 == rows0_ && rows1 == rows1_ && step == step_) return;
    rows0_ = rows0;
    rows1_ = rows1;
    step_ = step;
    TileConfig config;
    auto set = [&config](Register tile, size_t rows, size_t bytes) {
      config.rows[tile] = static_cast<uint8_t>(rows);
      config.row_bytes[tile] = static_cast<uint16_t>(bytes);
    };
    set(kSums00, rows0, kSumBytes);
    set(kSums01, rows0, kSumBytes);
    set(kSums10, rows1, kSumBytes);
    set(kSums11, rows1, kSumBytes);
    set(kLeft0, rows0, 2 * step);
    set(kLeft1, rows1, 2 * step);
    set(kRight0, step / 2, kPairBytes);
    set(kRight1, step / 2, kPairBytes);
    Configure(config);
  }

 private:
  size_t rows0_ = 0;
  size_t rows1_ = 0;
  size_t step_ = 0;
};

// One K-block for up to two tiles and two panels.
struct Product {
  const void *const *a;    // row 0 of the first tap
  const uint16_t *packed;  // or null
  size_t depth;            // of packed rows
  size_t tap_stride;
  RowTile tiles[2];
  size_t taps;
  size_t k_begin;
  size_t steps;
  size_t step;
  const uint16_t *w;
  size_t w_tap_stride;
  size_t panel_stride;
  float *sums;         // [tile][panel][row][16]
  size_t tile_stride;  // of sums
  bool first;
  const uint16_t *ahead;  // weights of a later K-block to prefetch, or null
};

struct LeftTile {
  const uint16_t *at;
  ptrdiff_t stride;  // bytes
  size_t advance;    // numbers to the next step
};

MACE_SIMD_INLINE LeftTile LeftOf(const Product &p,
                                 size_t tap,
                                 const RowTile &tile) {
  if (p.packed != nullptr) {
    return {p.packed + tile.row * p.depth + p.k_begin * tile.rows,
            static_cast<ptrdiff_t>(p.step * sizeof(uint16_t)),
            tile.rows * p.step};
  }
  const void *const *a = p.a + tap * p.tap_stride + tile.row;
  const auto *first = static_cast<const uint16_t *>(a[0]);
  const ptrdiff_t stride =
      tile.rows > 1 ? static_cast<const uint16_t *>(a[1]) - first : 0;
  return {first + p.k_begin, stride * static_cast<ptrdiff_t>(sizeof(uint16_t)),
          p.step};
}

// Loads the weights of one step for kPanels panels.
template <int kPanels>
MACE_SIMD_INLINE void Fetch(const uint16_t *w, const Product &p) {
  constexpr size_t kLine = 32;  // numbers
  for (size_t i = 0; i < p.step / 2; ++i) {
    for (int panel = 0; panel < kPanels; ++panel) {
      __builtin_prefetch(
          w + static_cast<size_t>(panel) * p.panel_stride + i * kLine, 0, 2);
    }
  }
}

template <int kTile>
MACE_SIMD_INLINE void BeginSums(const Product &p, int tile, int panel) {
  if (p.first) {
    ClearTile<kTile>();
  } else {
    LoadTile<kTile>(p.sums + static_cast<size_t>(tile) * p.tile_stride +
                        static_cast<size_t>(panel) * kTileFloats,
                    kSumBytes);
  }
}

template <int kTile>
MACE_SIMD_INLINE void EndSums(const Product &p, int tile, int panel) {
  StoreTile<kTile>(p.sums + static_cast<size_t>(tile) * p.tile_stride +
                       static_cast<size_t>(panel) * kTileFloats,
                   kSumBytes);
}

template <int kTiles, int kPanels>
void Multiply(const Product &p) {
  BeginSums<kSums00>(p, 0, 0);
  if constexpr (kPanels > 1) BeginSums<kSums01>(p, 0, 1);
  if constexpr (kTiles > 1) BeginSums<kSums10>(p, 1, 0);
  if constexpr (kTiles > 1 && kPanels > 1) BeginSums<kSums11>(p, 1, 1);
  for (size_t tap = 0; tap < p.taps; ++tap) {
    LeftTile left0 = LeftOf(p, tap, p.tiles[0]);
    LeftTile left1 = LeftOf(p, tap, p.tiles[kTiles - 1]);
    const uint16_t *w = p.w + tap * p.w_tap_stride;
    const uint16_t *ahead = p.ahead;
    if (ahead != nullptr) ahead += tap * p.w_tap_stride;
#pragma clang loop unroll(disable)
    for (size_t step = 0; step < p.steps; ++step) {
      LoadTile<kRight0>(w, kPairBytes);
      LoadTile<kLeft0>(left0.at, left0.stride);
      MultiplyTiles<kSums00, kLeft0, kRight0>();
      if constexpr (kPanels > 1) {
        LoadTile<kRight1>(w + p.panel_stride, kPairBytes);
        MultiplyTiles<kSums01, kLeft0, kRight1>();
      }
      if constexpr (kTiles > 1) {
        LoadTile<kLeft1>(left1.at, left1.stride);
        MultiplyTiles<kSums10, kLeft1, kRight0>();
      }
      if constexpr (kTiles > 1 && kPanels > 1) {
        MultiplyTiles<kSums11, kLeft1, kRight1>();
      }
      if (ahead != nullptr) {
        Fetch<kPanels>(ahead, p);
        ahead += p.step * kPanelColumns;
      }
      left0.at += left0.advance;
      left1.at += left1.advance;
      w += p.step * kPanelColumns;
    }
  }
  EndSums<kSums00>(p, 0, 0);
  if constexpr (kPanels > 1) EndSums<kSums01>(p, 0, 1);
  if constexpr (kTiles > 1) EndSums<kSums10>(p, 1, 0);
  if constexpr (kTiles > 1 && kPanels > 1) EndSums<kSums11>(p, 1, 1);
}

using MultiplyFunction = void (*)(const Product &);
constexpr MultiplyFunction kMultiply[2][2] = {
    {&Multiply<1, 1>, &Multiply<1, 2>}, {&Multiply<2, 1>, &Multiply<2, 2>}};

}  // namespace
}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_AMX_PRODUCT_H_
