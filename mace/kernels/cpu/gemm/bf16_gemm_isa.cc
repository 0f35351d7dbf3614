// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product of bf16 numbers. The blocks are divided as in
// gemm_isa.cc, but each step has two products instead of one.

#include "mace/kernels/cpu/gemm/bf16_narrow.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/gemm_tile.h"
#include "mace/kernels/cpu/gemm/k_blocks.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm {
namespace avx512 {
void RunVector(const Vector &vector);  // vector_isa.cc
}
}  // namespace mace::gemm

namespace mace::gemm::MACE_ISA {
namespace {

// A K-block of the widest column group, 1024 x 64 numbers, is 128 KiB.
constexpr size_t kDepthBlock = 1024;

constexpr size_t kSumColumns = kMaxGroupPanels * kPanelColumns;

// Numbers of a pair of K for 16 columns.
constexpr size_t kPairStep = 2 * kPanelColumns;

// `tile` has the fields that do not depend on bf16: sums, epilogue, columns.
struct Bf16Tile {
  Tile tile;
  const void *const *rows;  // row r of tap t: rows[t * tap_stride + r]
  const uint16_t *w;        // of the first panel
  size_t panel_stride;      // numbers from a panel to the next
  const uint16_t *ahead;    // weights that a later tile reads; never null
  size_t ahead_step;        // numbers per pair of K; 0: nothing new to prefetch
  // If not null, the finished sums are written here as bf16, instead of to
  // tile.c.
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

// Like Finish, with results of bf16.
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
  const void *const *rows = t.rows;
  for (size_t tap = 0; tap < t.tile.taps; ++tap, rows += t.tile.tap_stride) {
    const uint16_t *a[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      a[r] = static_cast<const uint16_t *>(rows[r]) + t.tile.k_begin;
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

// Never leaves a single panel for the end: 5 = 3 + 2.
MACE_SIMD_INLINE const Bf16Group &GroupFor(size_t panels_left) {
  if (panels_left == 5) return kGroups[2];
  return kGroups[panels_left >= 4 ? 3 : panels_left - 1];
}

// The weights that follow this K-block; the tiles prefetch `panels` panels of
// them.
struct NextWeights {
  const uint16_t *w;
  size_t panels;
};

MACE_SIMD_INLINE const uint16_t *WeightsOf(const Block &b) {
  return static_cast<const uint16_t *>(b.w);
}

MACE_SIMD_INLINE NextWeights WeightsAfter(const Block &b,
                                          const KExtent &extent,
                                          size_t panel,
                                          size_t panels,
                                          const KBlock &k) {
  const size_t panel_numbers = b.taps * b.depth * kPanelColumns;
  const KBlock after = KBlockAfter(extent, k);
  if (after.taps > 0) {
    return {WeightsOf(b) + panel * panel_numbers +
                OffsetOf(extent, after) * kPanelColumns,
            panels};
  }
  const size_t next = panel + panels;
  if (next >= b.panel_end) return {nullptr, 0};
  return {WeightsOf(b) + next * panel_numbers +
              OffsetOf(extent, FirstKBlock(extent)) * kPanelColumns,
          GroupFor(b.panel_end - next).panels};
}

// One K-block of one group of columns, and the rows computed so far.
struct Pass {
  const Bf16Group &group;
  size_t panel;
  KBlock k;
  NextWeights next;
  const float *bias;
  size_t tiles;  // that were run
};

void RunRows(const Block &b, const KBlockRows &range, Pass *pass) {
  const Bf16Group &group = pass->group;
  const KBlock &k = pass->k;
  const size_t panel_numbers = b.taps * b.depth * kPanelColumns;
  const size_t columns = group.panels * kPanelColumns;
  const size_t column = pass->panel * kPanelColumns;
  const size_t left = b.columns - column;
  const bool half = b.c_type == Element::kBf16;
  const size_t stride = b.epilogue.residual_stride;
  Bf16Tile t;
  t.w = WeightsOf(b) + pass->panel * panel_numbers +
        (k.tap * b.depth + k.k_begin) * kPanelColumns;
  t.panel_stride = panel_numbers;
  t.tile.tap_stride = b.rows;
  t.tile.taps = k.taps;
  t.tile.k_begin = k.k_begin;
  t.tile.depth = k.depth;
  t.tile.c_stride = half ? kSumColumns : b.c_stride;
  t.c_half = nullptr;
  t.c_half_stride = b.c_stride;
  t.residual_half = nullptr;
  t.tile.init = range.first ? pass->bias : nullptr;
  t.tile.residual = nullptr;
  t.tile.residual_stride = stride;
  t.tile.clamp = range.last && b.epilogue.clamp;
  t.tile.low = b.epilogue.low;
  t.tile.high = b.epilogue.high;
  t.tile.columns = static_cast<int>(left < columns ? left : columns);
  const bool adds = range.last && b.epilogue.residual != nullptr;
  for (size_t m = range.begin; m < range.end; ++pass->tiles) {
    const size_t rows = NextTiles(range.end - m, group.max_rows).rows;
    // Each of the first tiles prefetches one panel of the next K-block, so that
    // the first tile of that block need not wait for L3.
    const bool fetch = pass->tiles < pass->next.panels;
    t.ahead = fetch ? pass->next.w + pass->tiles * panel_numbers : t.w;
    t.ahead_step = fetch ? kPairStep : 0;
    t.rows = b.a + k.tap * b.rows + m;
    if (half) {
      t.tile.c = b.scratch + m * kSumColumns;
      if (range.last) {
        t.c_half = static_cast<uint16_t *>(b.c) + m * b.c_stride + column;
      }
      if (adds) {
        t.residual_half = static_cast<const uint16_t *>(b.epilogue.residual) +
                          m * stride + column;
      }
    } else {
      t.tile.c = static_cast<float *>(b.c) + m * b.c_stride + column;
      if (adds) {
        t.tile.residual = static_cast<const float *>(b.epilogue.residual) +
                          m * stride + column;
      }
    }
    group.of_rows[rows - 1](t);
    m += rows;
  }
}

void Run(const Block &b) {
  const KExtent extent = ExtentOf(b.tap_runs, b.taps, b.depth, kDepthBlock);
  alignas(64) float bias[kMaxGroupPanels * kPanelColumns];
  for (size_t panel = b.panel_begin; panel < b.panel_end;) {
    const Bf16Group &group = GroupFor(b.panel_end - panel);
    for (size_t i = 0; i < group.panels; ++i) {
      const size_t column = (panel + i) * kPanelColumns;
      const size_t left = b.columns - column;
      const int n = left < kPanelColumns ? static_cast<int>(left) : sv::kLanes;
      // -0 becomes 0, as gemm_isa.cc explains.
      sv::Store(bias + i * kPanelColumns,
                b.epilogue.bias == nullptr
                    ? sv::Zero()
                    : sv::LoadN(b.epilogue.bias + column, n) + sv::Zero());
    }
    for (KBlock k = FirstKBlock(extent); k.taps > 0;
         k = KBlockAfter(extent, k)) {
      Pass pass = {group, panel,
                   k,     WeightsAfter(b, extent, panel, group.panels, k),
                   bias,  0};
      ForRowsThatRead(b.tap_runs, b.rows, extent, k,
                      [&](const KBlockRows &rows) { RunRows(b, rows, &pass); });
    }
    panel += group.panels;
  }
}

}  // namespace

extern const Arithmetic kBf16Arithmetic;
const Arithmetic kBf16Arithmetic = {
    "bf16",
    Element::kBf16,
    &Run,
    &avx512::RunVector,
    nullptr,
    6,
    kDepthBlock,
    kSumColumns,
    &Narrow,
    &WidenRow,
    &NarrowPadded,
    nullptr,
    nullptr,
    /*pads_images=*/false,
    /*reads_steps=*/false,
    /*integers=*/nullptr,
    /*rate=*/2.0,  // an instruction adds two products to each sum
};

}  // namespace mace::gemm::MACE_ISA
