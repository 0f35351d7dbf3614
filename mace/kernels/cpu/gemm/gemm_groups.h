// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Divides the columns of a product into groups of adjacent panels, each with
// the tiles that cover it. Included only by gemm_isa.cc.

#ifndef MACE_KERNELS_CPU_GEMM_GEMM_GROUPS_H_
#define MACE_KERNELS_CPU_GEMM_GEMM_GROUPS_H_

#include <cstddef>

#include "mace/kernels/cpu/gemm/gemm_tile.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {
namespace {

// Tiles of kVectors column vectors with 1, 2, ... kMaxRows rows; or, with
// kPowers, with 1, 2, 4, ... alone, which is less code.
template <int kVectors, int kMaxRows, bool kPowers = false>
struct TileSet {
  static constexpr int kColumns = kVectors * sv::kLanes;
  TileFunction of_rows[kMaxRows];

  template <int kRows = 1>
  constexpr void Fill() {
    of_rows[kRows - 1] = &RunTiles<kRows, kVectors>;
    constexpr int kNext = kPowers ? 2 * kRows : kRows + 1;
    if constexpr (kNext <= kMaxRows) Fill<kNext>();
  }
  constexpr TileSet() : of_rows{} { Fill(); }
};

// A way to cover `panels` adjacent panels with `steps` adjacent tiles.
struct ColumnGroup {
  size_t panels;
  size_t steps;
  int step_columns;
  size_t max_rows;
  const TileFunction *of_rows;
  bool powers = false;  // heights are powers of two
};

// Tallest tiles: the sums, one weight vector per column vector and one value of
// A must fit into the registers. Measured on Zen 5 in GMAC/s, over products of
// ResNet and MobileNet: 6x64 114-126; 9x48 and 13x32 about the same; 14x32
// (which leaves no register free) 100-112; 12x16 78 (two loads for a single
// FMA). Therefore groups have 64 columns if possible, and a single panel only
// if nothing else remains.
#if defined(__AVX512F__)
constexpr TileSet<4, 6> kTiles4;
constexpr TileSet<3, 9> kTiles3;
constexpr TileSet<2, 13> kTiles2;
constexpr TileSet<1, 14> kTiles1;
constexpr ColumnGroup kGroups[] = {
    {1, 1, 16, 14, kTiles1.of_rows},
    {2, 1, 32, 13, kTiles2.of_rows},
    {3, 1, 48, 9, kTiles3.of_rows},
    {4, 1, 64, 6, kTiles4.of_rows},
};
// A few rows too many for tiles of 64 columns: narrower tiles that hold all of
// them read the weights once, which are often not in L1 a second time. Measured
// on Zen 4: layers of LSTM with 8 rows and 128 to 512 units take 0.96 to 0.99
// times as long, those of GRU with 256 units the same.
constexpr size_t kWidestFew = 9;
MACE_SIMD_INLINE const ColumnGroup &GroupFor(size_t panels_left,
                                             size_t rows,
                                             size_t) {
  const bool few = rows > kGroups[3].max_rows && rows <= kWidestFew;
  // Never leaves a single panel for the end: 5 = 3 + 2.
  if (panels_left == 5 || (few && panels_left > 5)) return kGroups[2];
  if (few && panels_left == 4) return kGroups[1];
  return kGroups[panels_left >= 4 ? 3 : panels_left - 1];
}
#elif defined(__AVX2__)
constexpr TileSet<2, 6> kTiles;  // 12 sums + 2 weights + 1 value of 16
constexpr ColumnGroup kGroup = {1, 1, 16, 6, kTiles.of_rows};
// The half of a panel that remains of 24, 40, 72 or 104 columns, as mobile
// networks have them: 8 sums, because an FMA takes 4 cycles and two start in
// each. So a lower tile takes as long, and of 7 x 7, 14 x 14, ... rows at most
// 4 and 1 are left over.
constexpr TileSet<1, 8, /*kPowers=*/true> kHalfTiles;
constexpr ColumnGroup kHalfGroup = {1, 1, 8, 8, kHalfTiles.of_rows, true};
MACE_SIMD_INLINE const ColumnGroup &GroupFor(size_t,
                                             size_t,
                                             size_t columns_left) {
  return columns_left <= 8 ? kHalfGroup : kGroup;
}
#elif defined(__aarch64__)
// 16 sums + 8 row vectors (four k each) + 2 x 4 weights use all 32 registers.
// The four vectors of a panel are loaded by one instruction: 128 of 143
// instructions of the loop
// multiply, and llvm-mca gives it 2.0 multiply-adds per cycle on Neoverse N1
// (the model nearest to Cortex-A76, whose peak is 2), 0.85 on Cortex-A55 and
// 0.58 on A53 (peak 1). 8x8: 64 of 90; 1.99, 0.96, 0.42. 6x16: 96 of 139.
constexpr TileSet<4, 4> kTiles;
constexpr ColumnGroup kGroup = {1, 1, 16, 4, kTiles.of_rows};
MACE_SIMD_INLINE const ColumnGroup &GroupFor(size_t, size_t, size_t) {
  return kGroup;
}
#elif defined(__SSE4_1__)
// 12 sums + 2 weights + 1 value + 1 product of 16.
constexpr TileSet<2, 6> kTiles;
constexpr ColumnGroup kGroup = {1, 2, 8, 6, kTiles.of_rows};
MACE_SIMD_INLINE const ColumnGroup &GroupFor(size_t, size_t, size_t) {
  return kGroup;
}
#else
// 8 sums + 4 vectors of packed rows (a k each) + 4 weights of 16 registers.
constexpr TileSet<2, 4> kTiles;
constexpr ColumnGroup kGroup = {1, 2, 8, 4, kTiles.of_rows};
MACE_SIMD_INLINE const ColumnGroup &GroupFor(size_t, size_t, size_t) {
  return kGroup;
}
#endif

}  // namespace
}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_GEMM_GROUPS_H_
