// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How products of 8-bit integers are divided into tiles, and where the weights
// of a tile are. Included only by the *_isa.cc files of this family.

#ifndef MACE_KERNELS_CPU_GEMM_DOT_TILES_H_
#define MACE_KERNELS_CPU_GEMM_DOT_TILES_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_dot.h"
#include "mace/kernels/cpu/simd_memory.h"

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

namespace mace::gemm::MACE_ISA {
namespace sv = simd::MACE_ISA;

// Of kDotFour elements of K in a panel, in bytes.
inline constexpr size_t kPanelStep = kPanelColumns * sv::kDotFour;

// Its first row and column.
struct DotTile {
  size_t row;
  size_t column;
};

// The address of a vector of columns in the panels.
MACE_SIMD_INLINE const int8_t *DotWeightsAt(const Block &b, size_t column) {
  return static_cast<const int8_t *>(b.w) +
         column / kPanelColumns * kPanelColumns * b.taps *
             DepthInFours(b.depth) +
         column % kPanelColumns * sv::kDotFour;
}

// Computes all rows from t.row in tiles of at most kRows: calls
// Kernel::RunTile<rows, kVectors>(block, tile).
// Each tile prefetches a part of `ahead`.
template <typename Kernel, int kRows, int kVectors>
MACE_SIMD_INLINE void RunDotRows(const Block &b, DotTile t, sv::Ahead ahead) {
  for (; t.row + kRows <= b.rows; t.row += kRows) {
    ahead.Prefetch();
    Kernel::template RunTile<kRows, kVectors>(b, t);
  }
  if constexpr (kRows > 1) {
    // 12, 8, 6, 4, 2, 1.
    constexpr int kNext = kRows > 8 ? 8 : kRows > 4 ? 4 : kRows / 2;
    RunDotRows<Kernel, kNext, kVectors>(b, t, ahead);
  }
}

// Computes the columns from t->column to `end`, of whole panels, in groups of
// kVectors vectors, as long as there are so many.
template <typename Kernel, int kRows, int kVectors>
MACE_SIMD_INLINE void RunDotColumns(const Block &b, size_t end, DotTile *t) {
  constexpr size_t kColumns = static_cast<size_t>(kVectors) * sv::kLanes;
  const size_t bytes = kColumns * b.taps * DepthInFours(b.depth);
  const size_t tiles = b.rows / kRows;
  for (; t->column + kColumns <= end && t->column < b.columns;
       t->column += kColumns) {
    RunDotRows<Kernel, kRows, kVectors>(
        b, *t, sv::Ahead(DotWeightsAt(b, t->column + kColumns), bytes, tiles));
  }
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_DOT_TILES_H_
