// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product of bf16 numbers: as gemm_isa.cc cuts them, with a step of
// two products where that has one.

#include "mace/kernels/cpu/gemm/bf16_gemm.h"
#include "mace/kernels/cpu/gemm/gemm_tile.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {
namespace {

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
};

template <int kRows, int kVectors>
void RunBf16Tile(const Bf16Tile &t) {
  sv::V acc[kRows][kVectors];
  PrefetchOutputs<kRows, kVectors>(t.tile);
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
  Finish(acc, t.tile);
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

MACE_SIMD_INLINE size_t NextRows(size_t left, size_t max_rows) {
  const size_t tiles = (left + max_rows - 1) / max_rows;
  return (left + tiles - 1) / tiles;
}

struct Stretch {
  size_t tap;
  size_t taps;
  size_t k_begin;
  size_t depth;
};

MACE_SIMD_INLINE Stretch NextStretch(const Bf16Block &b,
                                     size_t tap,
                                     size_t k_begin) {
  if (b.depth >= kBf16DepthBlock) {
    const size_t left = b.depth - k_begin;
    // A short rest is taken along by halving, which splits no pair.
    const size_t depth = left <= kBf16DepthBlock      ? left
                         : left < 2 * kBf16DepthBlock ? (left + 3) / 4 * 2
                                                      : kBf16DepthBlock;
    return {tap, 1, k_begin, depth};
  }
  const size_t fit = kBf16DepthBlock / b.depth;
  const size_t left = b.taps - tap;
  return {tap, left < fit ? left : fit, 0, b.depth};
}

// Numbers of the stretches up to and with this one, of one column.
MACE_SIMD_INLINE size_t Done(const Bf16Block &b, const Stretch &s) {
  return (s.tap + s.taps - 1) * b.depth + s.k_begin + s.depth;
}

// Where the weights after this stretch begin; `panels` of them in parallel.
struct NextWeights {
  const uint16_t *w;
  size_t panels;
};

MACE_SIMD_INLINE NextWeights WeightsAfter(const Bf16Block &b,
                                          size_t panel,
                                          size_t panels,
                                          const Stretch &s) {
  const size_t panel_numbers = b.taps * b.depth * kPanelColumns;
  const size_t done = Done(b, s);
  if (done < b.taps * b.depth) {
    return {b.w + panel * panel_numbers + done * kPanelColumns, panels};
  }
  const size_t next = panel + panels;
  if (next >= b.panel_end) return {nullptr, 0};
  return {b.w + next * panel_numbers, GroupFor(b.panel_end - next).panels};
}

void RunStretch(const Bf16Block &b,
                const Bf16Group &group,
                size_t panel,
                const Stretch &s,
                const float *bias) {
  const size_t panel_numbers = b.taps * b.depth * kPanelColumns;
  const size_t columns = group.panels * kPanelColumns;
  const size_t column = panel * kPanelColumns;
  const size_t left = b.columns - column;
  const bool first = s.tap == 0 && s.k_begin == 0;
  const bool last = Done(b, s) == b.taps * b.depth;
  Bf16Tile t;
  t.w = b.w + panel * panel_numbers +
        (s.tap * b.depth + s.k_begin) * kPanelColumns;
  t.panel_stride = panel_numbers;
  t.tile.tap_stride = b.rows;
  t.tile.taps = s.taps;
  t.tile.k_begin = s.k_begin;
  t.tile.depth = s.depth;
  t.tile.c_stride = b.c_stride;
  t.tile.init = first ? bias : nullptr;
  t.tile.residual_stride = b.epilogue.residual_stride;
  t.tile.clamp = last && b.epilogue.clamp;
  t.tile.low = b.epilogue.low;
  t.tile.high = b.epilogue.high;
  t.tile.columns = static_cast<int>(left < columns ? left : columns);
  const NextWeights ahead = WeightsAfter(b, panel, group.panels, s);
  size_t tile = 0;
  for (size_t m = 0; m < b.rows; ++tile) {
    const size_t rows = NextRows(b.rows - m, group.max_rows);
    // The first tiles fetch a panel of the next stretch each, so that its first
    // tile does not wait for L3.
    const bool fetch = tile < ahead.panels;
    t.ahead = fetch ? ahead.w + tile * panel_numbers : t.w;
    t.ahead_step = fetch ? kPairStep : 0;
    t.rows = b.a + s.tap * b.rows + m;
    t.tile.c = b.c + m * b.c_stride + column;
    t.tile.residual =
        last && b.epilogue.residual != nullptr
            ? b.epilogue.residual + m * b.epilogue.residual_stride + column
            : nullptr;
    group.of_rows[rows - 1](t);
    m += rows;
  }
}

void Run(const Bf16Block &b) {
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
    for (size_t tap = 0, k_begin = 0; tap < b.taps;) {
      const Stretch s = NextStretch(b, tap, k_begin);
      RunStretch(b, group, panel, s, bias);
      tap = s.tap + s.taps - 1;
      k_begin = s.k_begin + s.depth;
      if (k_begin == b.depth) {
        ++tap;
        k_begin = 0;
      }
    }
    panel += group.panels;
  }
}

void Narrow(const float *from, uint16_t *to, size_t count) {
  size_t i = 0;
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::StoreHalfBits(to + i, sv::NarrowBf16Fast(sv::Load(from + i)));
  }
  const int rest = static_cast<int>(count - i);
  if (rest > 0) {
    sv::StoreHalfBitsN(to + i, sv::NarrowBf16Fast(sv::LoadN(from + i, rest)),
                       rest);
  }
}

}  // namespace

extern const Bf16Kernels kBf16Kernels;
const Bf16Kernels kBf16Kernels = {&Run, &Narrow, 6};

}  // namespace mace::gemm::MACE_ISA
