// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product: K in stretches, columns in groups, rows in tiles.

#include <type_traits>

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/gemm_groups.h"
#include "mace/kernels/cpu/gemm/gemm_stretch.h"
#include "mace/kernels/cpu/gemm/gemm_tile.h"
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

// Weights of a stretch as floats: in place, or widened to scratch.
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

Weights StretchWeights(const Block &b,
                       const ColumnGroup &group,
                       size_t panel,
                       const Stretch &s) {
  const size_t panel_floats = b.taps * b.depth * kPanelColumns;
  const size_t k_begin = s.tap * b.depth + s.k_begin;
  if (b.w_type == WeightType::kF32) {
    return {static_cast<const float *>(b.w) + panel * panel_floats +
                k_begin * kPanelColumns,
            panel_floats};
  }
  const size_t depth = s.taps * s.depth;
  const size_t count = depth * kPanelColumns;
  for (size_t p = 0; p < group.panels; ++p) {
    b.widen(b, panel + p, k_begin, depth, b.scratch + p * count);
  }
  return {b.scratch, count};
}

// Weights that come next: while the rows pass over one stretch its first tiles
// fetch the next one. Without it the first tile of each stretch waits for L3,
// which is a quarter of the time where an image is 7x7.
struct NextWeights {
  const float *w = nullptr;
  size_t panel_stride = 0;
  size_t panels = 0;  // 0: nothing to fetch
};

[[maybe_unused]] NextWeights WeightsAfter(const Block &b,
                                          const ColumnGroup &group,
                                          size_t panel,
                                          const Stretch &s) {
  NextWeights next;
  if (!sv::kPrefetch || b.w_type != WeightType::kF32) return next;
  const float *w = static_cast<const float *>(b.w);
  next.panel_stride = b.taps * b.depth * kPanelColumns;
  const size_t done = (s.tap + s.taps - 1) * b.depth + s.k_begin + s.depth;
  const size_t after = panel + group.panels;
  if (done < b.taps * b.depth) {
    next.w = w + panel * next.panel_stride + done * kPanelColumns;
    next.panels = group.panels;
  } else if (after < b.panel_end) {
    next.w = w + after * next.panel_stride;
    next.panels = GroupFor(b.panel_end - after).panels;
  } else if (b.next_w != nullptr) {
    next.w = static_cast<const float *>(b.next_w);
    next.panels = GroupFor(b.panel_end - b.panel_begin).panels;
  }
  return next;
}

// Gives tile number `index` of a stretch a panel to fetch, if one is left. The
// address is never null: looking up one that no page holds takes long.
MACE_SIMD_INLINE void FetchAhead(const NextWeights &next,
                                 size_t index,
                                 Tile *t) {
  if (!sv::kPrefetch) return;
  const bool fetch = index < next.panels;
  t->ahead.at = fetch ? next.w + index * next.panel_stride : t->w;
  t->ahead.step = fetch ? kPanelColumns : 0;
}

// All rows of a block, where they lie.
struct AllRows {
  MACE_SIMD_INLINE size_t Begin(const AllRows &) { return 0; }
  MACE_SIMD_INLINE size_t End(const AllRows &, const Block &b) {
    return b.rows;
  }
  MACE_SIMD_INLINE const float *const *At(const AllRows &,
                                          const Block &b,
                                          const Stretch &s,
                                          size_t m) {
    return b.a + s.tap * b.rows + m;
  }
  MACE_SIMD_INLINE Heights Next(size_t left, size_t max_rows) {
    return NextTiles(left, max_rows);
  }
};

// Some rows of a block, one stretch of them packed by four.
struct PackedRows {
  size_t begin;
  size_t end;
  const float *packed;

  MACE_SIMD_INLINE size_t Begin(const PackedRows &x) { return x.begin; }
  MACE_SIMD_INLINE size_t End(const PackedRows &x, const Block &) {
    return x.end;
  }
  MACE_SIMD_INLINE const float *At(const PackedRows &x,
                                   const Block &,
                                   const Stretch &s,
                                   size_t m) {
    return x.packed + (m - x.begin) * s.taps * s.depth;
  }
  // Whole tiles but for the last one.
  MACE_SIMD_INLINE Heights Next(size_t left, size_t max_rows) {
    return left < max_rows ? Heights{left, 1}
                           : Heights{max_rows, left / max_rows};
  }
};

using StretchRows = std::conditional_t<kPacksRows, PackedRows, AllRows>;

// Rows against one stretch of one group.
void RunStretch(const Block &b,
                const StretchRows &range,
                const ColumnGroup &group,
                size_t panel,
                const Stretch &s,
                const NextWeights &next,
                const float *bias) {
  const Weights weights = StretchWeights(b, group, panel, s);
  const bool first = s.tap == 0 && s.k_begin == 0;
  const bool last = s.tap + s.taps == b.taps && s.k_begin + s.depth == b.depth;
  const size_t column = panel * kPanelColumns;
  Tile t;
  t.tap_stride = b.rows;
  t.taps = s.taps;
  t.k_begin = s.k_begin;
  t.depth = s.depth;
  t.panel_stride = weights.panel_stride;
  t.c_stride = b.c_stride;
  t.residual_stride = b.epilogue.residual_stride;
  t.clamp = last && b.epilogue.clamp;
  t.low = b.epilogue.low;
  t.high = b.epilogue.high;
  // Tiles of one height go by one call, which saves up to a tenth of the time
  // where K is short; unless something is done between them.
  const size_t existing = b.columns - column;
  const bool one_by_one =
      (group.steps > 1 && !kPacksRows) ||
      (!sv::kCheapMasks &&
       existing < (kPacksRows ? kPanelColumns
                              : static_cast<size_t>(group.step_columns)));
  size_t index = 0;
  for (size_t m = StretchRows::Begin(range); m < StretchRows::End(range, b);
       ++index) {
    const Heights tiles =
        StretchRows::Next(StretchRows::End(range, b) - m, group.max_rows);
    const size_t rows = tiles.rows;
    const bool fetches = sv::kPrefetch && index < next.panels;
    t.count = one_by_one || fetches ? 1 : tiles.count;
    t.rows = StretchRows::At(range, b, s, m);
    for (size_t step = 0; step < group.steps; ++step) {
      const size_t at = step * static_cast<size_t>(group.step_columns);
      if (column + at >= b.columns) break;
      const size_t left = b.columns - column - at;
      t.columns = left < static_cast<size_t>(group.step_columns)
                      ? static_cast<int>(left)
                      : group.step_columns;
      t.w = weights.w + at;  // steps > 1 only within one panel
      FetchAhead(next, index, &t);
      t.c = b.c + m * b.c_stride + column + at;
      t.init = first ? bias + at : nullptr;
      t.residual = last && b.epilogue.residual != nullptr
                       ? b.epilogue.residual + m * b.epilogue.residual_stride +
                             column + at
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

// The biases of a group's columns; zero beyond the last one.
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
    sv::Store(to + i, sv::LoadN(e.bias + column, n));
  }
}

}  // namespace

#if defined(__arm__)
namespace {

// Rows that are packed at a time: of the longest stretch 16, which stay in the
// first level of cache while all panels pass over them. Weights that must be
// widened are widened for each such pass, so it has more rows then, in what the
// weights leave of scratch.
constexpr size_t kPackedFloats = 16 * kDepthBlock;
constexpr size_t kWidenedFloats = kDepthBlock * kPanelColumns;

// Rows [range.begin, range.end) of a stretch to `to`. The lanes of rows that
// miss in the last four are never used.
void PackRows(
    const Block &b, const Stretch &s, size_t begin, size_t end, float *to) {
  for (size_t m = begin; m < end; m += kPackedRows) {
    for (size_t tap = s.tap; tap < s.tap + s.taps; ++tap) {
      const float *const *from = b.a + tap * b.rows;
      const float *rows[kPackedRows];
      MACE_UNROLL for (size_t r = 0; r < kPackedRows; ++r) {
        rows[r] = from[m + r < end ? m + r : end - 1] + s.k_begin;
      }
      PackFourRows(rows, s.depth, to);
      to += s.depth * kPackedRows;
    }
  }
}

}  // namespace

void RunBlock(const Block &b) {
  const Extent extent = {b.taps, b.depth, kDepthBlock};
  alignas(64) float bias[kPanelColumns];
  alignas(64) float own[kPackedFloats];
  const bool widens = b.w_type != WeightType::kF32;
  float *packed = widens ? b.scratch + kWidenedFloats : own;
  const size_t floats =
      widens ? kScratchFloats - kWidenedFloats : kPackedFloats;
  for (Stretch s = FirstStretch(extent); s.taps > 0;
       s = StretchAfter(extent, s)) {
    const size_t most = floats / (s.taps * s.depth * kPackedRows) * kPackedRows;
    for (PackedRows range = {0, 0, packed}; range.begin < b.rows;
         range.begin = range.end) {
      const size_t left = b.rows - range.begin;
      range.end = left <= most ? b.rows : range.begin + most;
      PackRows(b, s, range.begin, range.end, packed);
      for (size_t panel = b.panel_begin; panel < b.panel_end; ++panel) {
        GatherBias(b.epilogue, b.columns, panel * kPanelColumns, kPanelColumns,
                   bias);
        RunStretch(b, range, kGroup, panel, s, {}, bias);
      }
    }
  }
}
#else
void RunBlock(const Block &b) {
  const Extent extent = {b.taps, b.depth, kDepthBlock};
  alignas(64) float bias[kMaxGroupPanels * kPanelColumns];
  for (size_t panel = b.panel_begin; panel < b.panel_end;) {
    const ColumnGroup &group = GroupFor(b.panel_end - panel);
    GatherBias(b.epilogue, b.columns, panel * kPanelColumns,
               group.panels * kPanelColumns, bias);
    for (Stretch s = FirstStretch(extent); s.taps > 0;
         s = StretchAfter(extent, s)) {
      RunStretch(b, AllRows(), group, panel, s,
                 WeightsAfter(b, group, panel, s), bias);
    }
    panel += group.panels;
  }
}
#endif

extern const Kernels kKernels;
const Kernels kKernels = {&RunBlock, &RunVector, &Widen, kRowTile};

}  // namespace mace::gemm::MACE_ISA
