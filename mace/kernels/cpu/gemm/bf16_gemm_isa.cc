// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product of bf16 numbers: as gemm_isa.cc cuts them, with a step of
// two products where that has one.

#include "mace/kernels/cpu/gemm/bf16_narrow.h"
#include "mace/kernels/cpu/gemm/gemm_stretch.h"
#include "mace/kernels/cpu/gemm/gemm_tile.h"
#include "mace/kernels/cpu/gemm/half_gemm.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {
namespace {

// A stretch of the widest column group, 1024 x 64 numbers, is 128 KiB.
constexpr size_t kDepthBlock = 1024;

// Numbers of a pair of K for 16 columns.
constexpr size_t kPairStep = 2 * kPanelColumns;

// `tile` holds the part that is not about bf16: sums, epilogue, columns.
struct Bf16Tile {
  Tile tile;
  const uint16_t *const *rows;  // row r of tap t: rows[t * tap_stride + r]
  const uint16_t *w;            // of the first panel
  size_t panel_stride;          // numbers from a panel to the next
  const uint16_t *ahead;        // what a later tile reads; never null
  size_t ahead_step;            // numbers per pair of K; 0: fetch nothing new
  // Not null: where finished sums go as bf16, instead of tile.c.
  uint16_t *c_half;
  size_t c_half_stride;
  const uint16_t *residual_half;  // of tile.residual_stride, or null
};

template <int kRows, int kVectors>
MACE_SIMD_INLINE void PrefetchHalfOutputs(const Bf16Tile &t) {
  constexpr int kLine = 32;  // numbers
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    const uint16_t *p = t.c_half + static_cast<size_t>(r) * t.c_half_stride;
    MACE_UNROLL for (int i = 0; i < kVectors * sv::kLanes; i += kLine) {
      sv::PrefetchForWriting(p + i);
    }
  }
  if (t.residual_half == nullptr) return;
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    const uint16_t *p =
        t.residual_half + static_cast<size_t>(r) * t.tile.residual_stride;
    MACE_UNROLL for (int i = 0; i < kVectors * sv::kLanes; i += kLine) {
      sv::PrefetchForReading(p + i);
    }
  }
}

// The last vector may be partial.
template <int kVectors>
MACE_SIMD_INLINE bool IsWhole(int v, int columns) {
  return v < kVectors - 1 || columns == kVectors * sv::kLanes;
}

// As Finish, to bf16.
template <int kRows, int kVectors>
MACE_SIMD_INLINE void FinishHalf(sv::V (&acc)[kRows][kVectors],
                                 const Bf16Tile &t) {
  const int columns = t.tile.columns;
  const int rest = columns - (kVectors - 1) * sv::kLanes;
  if (t.residual_half != nullptr) {
    const uint16_t *p = t.residual_half;
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        const uint16_t *from = p + v * sv::kLanes;
        acc[r][v] += IsWhole<kVectors>(v, columns) ? sv::LoadBf16(from)
                                                   : sv::LoadBf16N(from, rest);
      }
      p += t.tile.residual_stride;
    }
  }
  ClampSums(acc, t.tile);
  uint16_t *p = t.c_half;
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      const sv::VH x = sv::NarrowBf16Fast(acc[r][v]);
      if (IsWhole<kVectors>(v, columns)) {
        sv::StoreHalfBits(p + v * sv::kLanes, x);
      } else {
        sv::StoreHalfBitsN(p + v * sv::kLanes, x, rest);
      }
    }
    p += t.c_half_stride;
  }
}

template <int kRows, int kVectors>
void RunBf16Tile(const Bf16Tile &t) {
  sv::V acc[kRows][kVectors];
  if (t.c_half != nullptr) {
    PrefetchHalfOutputs<kRows, kVectors>(t);
  } else {
    PrefetchOutputs<kRows, kVectors>(t.tile);
  }
  Begin(acc, t.tile);
  const uint16_t *w = t.w;
  const uint16_t *ahead = t.ahead;
  const uint16_t *const *rows = t.rows;
  for (size_t tap = 0; tap < t.tile.taps; ++tap, rows += t.tile.tap_stride) {
    const uint16_t *a[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      a[r] = rows[r] + t.tile.k_begin;
    }
#pragma clang loop unroll(disable)
    for (size_t k = 0; k < t.tile.depth; k += 2, w += kPairStep) {
      __builtin_prefetch(ahead);
      ahead += t.ahead_step;
      sv::VU wv[kVectors];
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        wv[v] = sv::LoadBf16Pairs(w + static_cast<size_t>(v) * t.panel_stride);
      }
      MACE_UNROLL for (int r = 0; r < kRows; ++r) {
        const sv::VU x = sv::SetBf16Pair(a[r] + k);
        MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
          acc[r][v] = sv::DotBf16Pairs(acc[r][v], x, wv[v]);
        }
      }
    }
  }
  if (t.c_half != nullptr) {
    FinishHalf(acc, t);
  } else {
    Finish(acc, t.tile);
  }
}

using Bf16TileFunction = void (*)(const Bf16Tile &);

template <int kVectors, int kMaxRows>
struct Bf16TileSet {
  Bf16TileFunction of_rows[kMaxRows];

  template <int kRows = 1>
  constexpr void Fill() {
    of_rows[kRows - 1] = &RunBf16Tile<kRows, kVectors>;
    if constexpr (kRows < kMaxRows) Fill<kRows + 1>();
  }
  constexpr Bf16TileSet() : of_rows{} { Fill(); }
};

struct Bf16Group {
  size_t panels;
  size_t max_rows;
  const Bf16TileFunction *of_rows;
};

static_assert(sv::kLanes == 16, "one vector is one panel");
constexpr Bf16TileSet<4, 6> kTiles4;
constexpr Bf16TileSet<3, 9> kTiles3;
constexpr Bf16TileSet<2, 13> kTiles2;
constexpr Bf16TileSet<1, 14> kTiles1;
constexpr Bf16Group kGroups[] = {
    {1, 14, kTiles1.of_rows},
    {2, 13, kTiles2.of_rows},
    {3, 9, kTiles3.of_rows},
    {4, 6, kTiles4.of_rows},
};

// Never leaves a single panel behind: 5 = 3 + 2.
MACE_SIMD_INLINE const Bf16Group &GroupFor(size_t panels_left) {
  if (panels_left == 5) return kGroups[2];
  return kGroups[panels_left >= 4 ? 3 : panels_left - 1];
}

// Where the weights after this stretch begin; `panels` of them in parallel.
struct NextWeights {
  const uint16_t *w;
  size_t panels;
};

MACE_SIMD_INLINE NextWeights WeightsAfter(const HalfBlock &b,
                                          const Extent &extent,
                                          size_t panel,
                                          size_t panels,
                                          const Stretch &s) {
  const size_t panel_numbers = b.taps * b.depth * kPanelColumns;
  const size_t done = Done(extent, s);
  if (done < b.taps * b.depth) {
    return {b.w + panel * panel_numbers + done * kPanelColumns, panels};
  }
  const size_t next = panel + panels;
  if (next >= b.panel_end) return {nullptr, 0};
  return {b.w + next * panel_numbers, GroupFor(b.panel_end - next).panels};
}

void RunStretch(const HalfBlock &b,
                const Extent &extent,
                const Bf16Group &group,
                size_t panel,
                const Stretch &s,
                const float *bias) {
  const size_t panel_numbers = b.taps * b.depth * kPanelColumns;
  const size_t columns = group.panels * kPanelColumns;
  const size_t column = panel * kPanelColumns;
  const size_t left = b.columns - column;
  const bool first = s.tap == 0 && s.k_begin == 0;
  const bool last = IsLast(extent, s);
  Bf16Tile t;
  t.w = b.w + panel * panel_numbers +
        (s.tap * b.depth + s.k_begin) * kPanelColumns;
  t.panel_stride = panel_numbers;
  t.tile.tap_stride = b.rows;
  t.tile.taps = s.taps;
  t.tile.k_begin = s.k_begin;
  t.tile.depth = s.depth;
  const bool half = b.c_half != nullptr;
  t.tile.c_stride = half ? kHalfSumColumns : b.c_stride;
  t.c_half = nullptr;
  t.c_half_stride = b.c_stride;
  t.residual_half = nullptr;
  t.tile.init = first ? bias : nullptr;
  t.tile.residual_stride = b.epilogue.residual_stride;
  t.tile.clamp = last && b.epilogue.clamp;
  t.tile.low = b.epilogue.low;
  t.tile.high = b.epilogue.high;
  t.tile.columns = static_cast<int>(left < columns ? left : columns);
  const NextWeights ahead = WeightsAfter(b, extent, panel, group.panels, s);
  size_t tile = 0;
  for (size_t m = 0; m < b.rows; ++tile) {
    const size_t rows = NextTiles(b.rows - m, group.max_rows).rows;
    // The first tiles fetch a panel of the next stretch each, so that its first
    // tile does not wait for L3.
    const bool fetch = tile < ahead.panels;
    t.ahead = fetch ? ahead.w + tile * panel_numbers : t.w;
    t.ahead_step = fetch ? kPairStep : 0;
    t.rows = b.a + s.tap * b.rows + m;
    t.tile.c =
        half ? b.sums + m * kHalfSumColumns : b.c + m * b.c_stride + column;
    if (half && last) {
      t.c_half = b.c_half + m * b.c_stride + column;
      if (b.residual_half != nullptr) {
        t.residual_half =
            b.residual_half + m * b.epilogue.residual_stride + column;
      }
    }
    t.tile.residual =
        last && b.epilogue.residual != nullptr
            ? b.epilogue.residual + m * b.epilogue.residual_stride + column
            : nullptr;
    group.of_rows[rows - 1](t);
    m += rows;
  }
}

void Run(const HalfBlock &b) {
  const Extent extent = {b.taps, b.depth, kDepthBlock};
  alignas(64) float bias[kMaxGroupPanels * kPanelColumns];
  for (size_t panel = b.panel_begin; panel < b.panel_end;) {
    const Bf16Group &group = GroupFor(b.panel_end - panel);
    for (size_t i = 0; i < group.panels; ++i) {
      const size_t column = (panel + i) * kPanelColumns;
      const size_t left = b.columns - column;
      const int n = left < kPanelColumns ? static_cast<int>(left) : sv::kLanes;
      sv::Store(bias + i * kPanelColumns,
                b.epilogue.bias == nullptr
                    ? sv::Zero()
                    : sv::LoadN(b.epilogue.bias + column, n));
    }
    for (Stretch s = FirstStretch(extent); s.taps > 0;
         s = StretchAfter(extent, s)) {
      RunStretch(b, extent, group, panel, s, bias);
    }
    panel += group.panels;
  }
}

}  // namespace

extern const HalfKernels kBf16Kernels;
const HalfKernels kBf16Kernels = {&Run,        &Narrow, &Widen,       6,
                                  kDepthBlock, "bf16",  &NarrowPadded};

}  // namespace mace::gemm::MACE_ISA
