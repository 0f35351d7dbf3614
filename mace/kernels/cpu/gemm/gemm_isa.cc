// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product: K is divided into K-blocks, columns into groups, rows
// into tiles.

#include <type_traits>

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/gemm_groups.h"
#include "mace/kernels/cpu/gemm/gemm_tile.h"
#include "mace/kernels/cpu/gemm/k_blocks.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

void RunVector(const Vector &vector);  // vector_isa.cc

namespace {

static_assert(kPanelWidth == kPanelColumns);

template <typename Widen>
MACE_SIMD_INLINE void WidenRun(const uint16_t *from,
                               float *to,
                               size_t count,
                               Widen widen) {
  for (size_t i = 0; i < count; i += kPanelColumns) {
    MACE_UNROLL for (size_t j = 0; j < kPanelColumns; j += sv::kLanes) {
      sv::Store(to + i + j, widen(from + i + j));
    }
  }
}

// [K / 2][16][2] to [K][16].
void WidenPairs(const uint16_t *from, float *to, size_t count) {
  for (size_t i = 0; i < count; i += 2 * kPanelColumns) {
    MACE_UNROLL for (size_t j = 0; j < kPanelColumns; j += sv::kLanes) {
      const sv::VU pairs = sv::LoadBf16Pairs(from + i + 2 * j);
      sv::Store(to + i + j, sv::EarlierBf16(pairs));
      sv::Store(to + i + kPanelColumns + j, sv::LaterBf16(pairs));
    }
  }
}

// The weights of a K-block as floats: in place, or widened into scratch memory.
struct Weights {
  const float *w;
  size_t panel_stride;
};

// 16-bit weights.
void Widen(
    const Block &b, size_t panel, size_t k_begin, size_t depth, float *to) {
  const uint16_t *from = static_cast<const uint16_t *>(b.w) +
                         (panel * b.taps * b.depth + k_begin) * kPanelColumns;
  const size_t count = depth * kPanelColumns;
  if (b.w_type == WeightType::kBf16Pairs) {
    WidenPairs(from, to, count);
  } else if (b.w_type == WeightType::kF16) {
    WidenRun(from, to, count,
             [](const uint16_t *p)
                 __attribute__((always_inline)) { return sv::LoadF16(p); });
  } else {
    WidenRun(from, to, count,
             [](const uint16_t *p)
                 __attribute__((always_inline)) { return sv::LoadBf16(p); });
  }
}

Weights KBlockWeights(const Block &b,
                      const KExtent &extent,
                      const ColumnGroup &group,
                      size_t panel,
                      const KBlock &k) {
  const size_t panel_floats = b.taps * b.depth * kPanelColumns;
  const size_t k_begin = OffsetOf(extent, k);
  if (b.w_type == WeightType::kF32) {
    return {static_cast<const float *>(b.w) + panel * panel_floats +
                k_begin * kPanelColumns,
            panel_floats};
  }
  const size_t depth = k.taps * k.depth;
  const size_t count = depth * kPanelColumns;
  for (size_t p = 0; p < group.panels; ++p) {
    b.widen(b, panel + p, k_begin, depth, b.scratch + p * count);
  }
  return {b.scratch, count};
}

// The group of columns that begins with a panel.
[[maybe_unused]] MACE_SIMD_INLINE const ColumnGroup &GroupAt(const Block &b,
                                                             size_t panel) {
  return GroupFor(b.panel_end - panel, b.rows,
                  b.columns - panel * kPanelColumns);
}

// The weights that are needed next: the first tiles of one K-block prefetch the
// following K-block. Without this, the first tile of each K-block waits for L3,
// which is a quarter of the time for images of 7x7 pixels.
struct NextWeights {
  const float *w = nullptr;
  size_t panel_stride = 0;
  size_t panels = 0;      // 0: nothing to fetch
  size_t log_shares = 0;  // tiles that share a panel are 2^log_shares
};

MACE_SIMD_INLINE size_t TilesThatFetch(const NextWeights &next) {
  return next.panels << next.log_shares;
}

// Lets tiles of a K-block share the panels, with at least 16 lines for each
// tile. A tile that fetches a whole panel asks for a line with every product,
// which is more than L3 or memory delivers: its own loads wait. Measured on
// Sapphire Rapids: 49 rows and K of 512 and more take 0.80 to 0.83 times as
// long with AVX2, and 0.85 with AVX-512, where more shares were not tried. With
// `skips`, fewer rows may read the K-block.
[[maybe_unused]] MACE_SIMD_INLINE void Share(const ColumnGroup &group,
                                             const KBlock &k,
                                             size_t rows,
                                             bool skips,
                                             NextWeights *next) {
  constexpr size_t kLeastLines = kOnePanel ? 16 : 64;
  constexpr size_t kMostLogShares = kOnePanel ? 4 : 1;
  const size_t tiles = rows / (skips ? 2 * group.max_rows : group.max_rows);
  const size_t lines = k.taps * k.depth;
  while (next->log_shares < kMostLogShares &&
         2 * TilesThatFetch(*next) <= tiles &&
         lines >> (next->log_shares + 1) >= kLeastLines) {
    ++next->log_shares;
  }
}

[[maybe_unused]] NextWeights WeightsAfter(const Block &b,
                                          const KExtent &extent,
                                          const ColumnGroup &group,
                                          size_t panel,
                                          const KBlock &k) {
  NextWeights next;
  if (!sv::kPrefetch || b.w_type != WeightType::kF32) return next;
  const float *w = static_cast<const float *>(b.w);
  next.panel_stride = b.taps * b.depth * kPanelColumns;
  const KBlock after = KBlockAfter(extent, k);
  const size_t first = OffsetOf(extent, FirstKBlock(extent)) * kPanelColumns;
  const size_t next_panel = panel + group.panels;
  if (after.taps > 0) {
    next.w =
        w + panel * next.panel_stride + OffsetOf(extent, after) * kPanelColumns;
    next.panels = group.panels;
  } else if (next_panel < b.panel_end) {
    next.w = w + next_panel * next.panel_stride + first;
    next.panels = GroupAt(b, next_panel).panels;
  } else if (b.next_w != nullptr) {
    next.w = static_cast<const float *>(b.next_w) + first;
    next.panels = GroupAt(b, b.panel_begin).panels;
  }
  if (next.panels != 0) Share(group, k, b.rows, extent.skips, &next);
  return next;
}

// Sets what tile number `index` of a K-block should prefetch, if anything is
// left. The address is never null: prefetching from an unmapped page is slow.
MACE_SIMD_INLINE void FetchAhead(const NextWeights &next,
                                 size_t index,
                                 Tile *t) {
  if (!sv::kPrefetch) return;
  t->ahead.at = t->w;
  t->ahead.step = 0;
  if (index >= TilesThatFetch(next)) return;
  t->ahead.step = kPanelColumns >> next.log_shares;
  const size_t panel = index >> next.log_shares;
  const size_t share = index - (panel << next.log_shares);
  t->ahead.at = next.w + panel * next.panel_stride +
                share * t->taps * t->depth * t->ahead.step;
}

// The rows of a block, used in place.
struct RowsInPlace {
  MACE_SIMD_INLINE const void *const *At(const RowsInPlace &,
                                         const Block &b,
                                         const KBlock &k,
                                         size_t m) {
    return b.a + k.tap * b.rows + m;
  }
  MACE_SIMD_INLINE Heights Next(size_t left, const ColumnGroup &group) {
    if (!group.powers) return NextTiles(left, group.max_rows);
    size_t rows = group.max_rows;
    while (rows > left) rows /= 2;
    return {rows, left / rows};
  }
};

// The rows of a block from `begin` on; one K-block of them is packed, four rows
// at a time.
struct PackedRows {
  size_t begin;
  const float *packed;

  MACE_SIMD_INLINE const float *At(const PackedRows &rows,
                                   const Block &,
                                   const KBlock &k,
                                   size_t m) {
    return rows.packed + (m - rows.begin) * k.taps * k.depth;
  }
  // Tiles of full height, except the last one.
  MACE_SIMD_INLINE Heights Next(size_t left, const ColumnGroup &group) {
    return left < group.max_rows
               ? Heights{left, 1}
               : Heights{group.max_rows, left / group.max_rows};
  }
};

using TileSource = std::conditional_t<kPacksRows, PackedRows, RowsInPlace>;

// One K-block of one group of columns, and the rows computed so far.
struct Pass {
  const ColumnGroup &group;
  size_t panel;
  KBlock k;
  Weights weights;
  NextWeights next;
  const float *bias;
  size_t tiles;  // that were run
};

void RunRows(const Block &b,
             const TileSource &source,
             const KBlockRows &range,
             Pass *pass) {
  const ColumnGroup &group = pass->group;
  const KBlock &k = pass->k;
  const size_t column = pass->panel * kPanelColumns;
  Tile t;
  t.tap_stride = b.rows;
  t.taps = k.taps;
  t.k_begin = k.k_begin;
  t.depth = k.depth;
  t.panel_stride = pass->weights.panel_stride;
  float *c = static_cast<float *>(b.c);
  const auto *residual = static_cast<const float *>(b.epilogue.residual);
  t.c_stride = b.c_stride;
  t.residual_stride = b.epilogue.residual_stride;
  t.clamp = range.last && b.epilogue.clamp;
  t.low = b.epilogue.low;
  t.high = b.epilogue.high;
  // Tiles of one height are computed by one call, which saves up to a tenth of
  // the time if K is short, unless other work must be done between them.
  const size_t existing = b.columns - column;
  const bool one_by_one =
      (group.steps > 1 && !kPacksRows) ||
      (!sv::kCheapMasks &&
       existing < (kPacksRows ? kPanelColumns
                              : static_cast<size_t>(group.step_columns)));
  for (size_t m = range.begin; m < range.end;
       pass->tiles += kOnePanel ? t.count : 1) {
    const Heights tiles = TileSource::Next(range.end - m, group);
    const size_t rows = tiles.rows;
    const bool fetches =
        sv::kPrefetch && pass->tiles < TilesThatFetch(pass->next);
    t.count = one_by_one || (fetches && !kOnePanel) ? 1 : tiles.count;
    if (kOnePanel && fetches) {
      const size_t fetching = TilesThatFetch(pass->next) - pass->tiles;
      if (t.count > fetching) t.count = fetching;
    }
    t.rows = TileSource::At(source, b, k, m);
    for (size_t step = 0; step < group.steps; ++step) {
      const size_t at = step * static_cast<size_t>(group.step_columns);
      if (column + at >= b.columns) break;
      const size_t left = b.columns - column - at;
      t.columns = left < static_cast<size_t>(group.step_columns)
                      ? static_cast<int>(left)
                      : group.step_columns;
      t.w = pass->weights.w + at;  // steps > 1 only within one panel
      FetchAhead(pass->next, pass->tiles, &t);
      t.c = c + m * b.c_stride + column + at;
      t.init = range.first ? pass->bias + at : nullptr;
      t.residual = range.last && residual != nullptr
                       ? residual + m * b.epilogue.residual_stride + column + at
                       : nullptr;
      const TileFunction run = group.of_rows[rows - 1];
      if (!sv::kCheapMasks && t.columns < group.step_columns) {
        RunPartial(run, t, rows, static_cast<size_t>(group.step_columns));
      } else {
        run(t);
      }
    }
    m += rows * t.count;
  }
}

// Collects the biases of a group's columns; zero beyond the last one. -0
// becomes 0: adding 0 to a sum that starts with 0 does not change it, so that a
// tap outside the image may be skipped or multiplied.
MACE_SIMD_INLINE void GatherBias(
    const Epilogue &e, size_t columns, size_t first, size_t count, float *to) {
  if (e.bias == nullptr) {
    for (size_t i = 0; i < count; i += sv::kLanes) {
      sv::Store(to + i, sv::Zero());
    }
    return;
  }
  for (size_t i = 0; i < count; i += sv::kLanes) {
    const size_t column = first + i;
    const size_t left = column < columns ? columns - column : 0;
    const int n = left < static_cast<size_t>(sv::kLanes)
                      ? static_cast<int>(left)
                      : sv::kLanes;
    sv::Store(to + i, sv::LoadN(e.bias + column, n) + sv::Zero());
  }
}

}  // namespace

#if defined(__arm__)
namespace {

// Rows that are packed at a time: 16 of the longest K-block, which stay in L1
// while they are multiplied by all panels. If weights must be widened, this
// happens once per pass over the rows; then a pass has more rows, as many as
// fit into the scratch memory that the weights leave.
constexpr size_t kPackedFloats = 16 * kDepthBlock;
constexpr size_t kWidenedFloats = kDepthBlock * kPanelColumns;

// Packs rows [begin, end) of a K-block into `to`. If the last group has fewer
// than four rows, its other lanes are never used.
void PackRows(
    const Block &b, const KBlock &k, size_t begin, size_t end, float *to) {
  for (size_t m = begin; m < end; m += kPackedRows) {
    for (size_t tap = k.tap; tap < k.tap + k.taps; ++tap) {
      const void *const *from = b.a + tap * b.rows;
      const float *rows[kPackedRows];
      MACE_UNROLL for (size_t r = 0; r < kPackedRows; ++r) {
        rows[r] =
            static_cast<const float *>(from[m + r < end ? m + r : end - 1]) +
            k.k_begin;
      }
      PackFourRows(rows, k.depth, to);
      to += k.depth * kPackedRows;
    }
  }
}

// Multiplies by all panels, for as many rows at a time as fit into `floats`
// floats at `packed`.
void RunPacked(const Block &b,
               const KExtent &extent,
               const KBlock &k,
               const KBlockRows &rows,
               float *packed,
               size_t floats) {
  alignas(64) float bias[kPanelColumns];
  const size_t most = floats / (k.taps * k.depth * kPackedRows) * kPackedRows;
  for (KBlockRows some = rows; some.begin < rows.end; some.begin = some.end) {
    const size_t left = rows.end - some.begin;
    some.end = left <= most ? rows.end : some.begin + most;
    PackRows(b, k, some.begin, some.end, packed);
    for (size_t panel = b.panel_begin; panel < b.panel_end; ++panel) {
      GatherBias(b.epilogue, b.columns, panel * kPanelColumns, kPanelColumns,
                 bias);
      Pass pass = {kGroup, panel, k, KBlockWeights(b, extent, kGroup, panel, k),
                   {},     bias,  0};
      RunRows(b, {some.begin, packed}, some, &pass);
    }
  }
}

}  // namespace

void RunBlock(const Block &b) {
  const KExtent extent = ExtentOf(b.tap_runs, b.taps, b.depth, kDepthBlock);
  alignas(64) float own[kPackedFloats];
  const bool widens = b.w_type != WeightType::kF32;
  float *packed = widens ? b.scratch + kWidenedFloats : own;
  const size_t floats =
      widens ? kScratchFloats - kWidenedFloats : kPackedFloats;
  for (KBlock k = FirstKBlock(extent); k.taps > 0; k = KBlockAfter(extent, k)) {
    ForRowsThatRead(b.tap_runs, b.rows, extent, k, [&](const KBlockRows &rows) {
      RunPacked(b, extent, k, rows, packed, floats);
    });
  }
}
#else
void RunBlock(const Block &b) {
  const KExtent extent = ExtentOf(b.tap_runs, b.taps, b.depth, kDepthBlock);
  alignas(64) float bias[kMaxGroupPanels * kPanelColumns];
  for (size_t panel = b.panel_begin; panel < b.panel_end;) {
    const ColumnGroup &group = GroupAt(b, panel);
    GatherBias(b.epilogue, b.columns, panel * kPanelColumns,
               group.panels * kPanelColumns, bias);
    for (KBlock k = FirstKBlock(extent); k.taps > 0;
         k = KBlockAfter(extent, k)) {
      Pass pass = {group,
                   panel,
                   k,
                   KBlockWeights(b, extent, group, panel, k),
                   WeightsAfter(b, extent, group, panel, k),
                   bias,
                   0};
      ForRowsThatRead(
          b.tap_runs, b.rows, extent, k,
          [&](const KBlockRows &rows) { RunRows(b, {}, rows, &pass); });
    }
    panel += group.panels;
  }
}
#endif

extern const Arithmetic kFloatArithmetic;
const Arithmetic kFloatArithmetic = {nullptr,     Element::kF32,    &RunBlock,
                                     &RunVector,  &Widen,           kRowTile,
                                     kDepthBlock, /*sum_columns=*/0};

}  // namespace mace::gemm::MACE_ISA
