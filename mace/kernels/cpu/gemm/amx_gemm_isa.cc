// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product of bf16 numbers by the tiles of AMX: 2 x 2 of them, 32
// rows by 32 columns, are summed at a time.
//
// A tile of the left side is loaded from the rows where they lie, as long as
// they are equally far apart: neighbours in a row of an image. So the rows of a
// block are cut into tiles where that ends (FindTiles), and
// Arithmetic::pads_images keeps the border of an image from ending it. Rows
// with strides between them are packed, since few of them would fill a tile.
//
// Two orders of work. Weights of one tap that fit L2 stay there while pairs of
// tiles pass over all of them: results are written by whole rows, which memory
// likes, and a pair of tiles stays in L1 (RunRows). Else a K-block of the
// weights stays there while a group of tiles passes over it, and the next one
// is fetched meanwhile; the sums of the group rest in memory of their own
// (RunGroup).

#include "mace/kernels/cpu/gemm/amx_product.h"
#include "mace/kernels/cpu/gemm/amx_rows.h"
#include "mace/kernels/cpu/gemm/amx_tile.h"
#include "mace/kernels/cpu/gemm/bf16_narrow.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/k_blocks.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm {
namespace avx512 {
void RunVector(const Vector &vector);  // vector_isa.cc
}
}  // namespace mace::gemm

namespace mace::gemm::MACE_ISA {
namespace {

// A K-block of two panels is 40 x 32 x 32 numbers of 2 bytes: 80 KiB, more than
// L1 holds. The sums of a group come and go once a K-block, so shorter ones
// cost more than they save: measure kernels of 3x3 before changing it.
constexpr size_t kKBlockSteps = 40;
constexpr size_t kGroupTiles = 8;
// Of weights, for RunRows: a quarter of L2, as processors with AMX have it.
constexpr size_t kResidentBytes = 512 * 1024;
// Of RunRows between writing results: 256 bytes of a row of bf16.
constexpr size_t kRowPanels = 8;

MACE_SIMD_INLINE sv::V LoadResult(const float *p, int n) {
  return sv::LoadN(p, n);
}
MACE_SIMD_INLINE sv::V LoadResult(const uint16_t *p, int n) {
  return n == sv::kLanes ? sv::LoadBf16(p) : sv::LoadBf16N(p, n);
}
MACE_SIMD_INLINE void StoreResult(float *p, sv::V x, int n) {
  sv::StoreN(p, x, n);
}
MACE_SIMD_INLINE void StoreResult(uint16_t *p, sv::V x, int n) {
  if (n == sv::kLanes) {
    sv::StoreHalfBits(p, sv::NarrowBf16Fast(x));
  } else {
    sv::StoreHalfBitsN(p, sv::NarrowBf16Fast(x), n);
  }
}

MACE_SIMD_INLINE const uint16_t *WeightsOf(const Block &b) {
  return static_cast<const uint16_t *>(b.w);
}

// Sums of a tile and some panels, [panel][row][16], to the output by rows. T:
// float, or uint16_t for bf16.
template <typename T>
void FinishAs(const Block &b,
              T *to,
              const T *from,  // the residual, or null
              const RowTile &tile,
              size_t panel,
              size_t panels,
              const float *sums) {
  const Epilogue &e = b.epilogue;
  const size_t column = panel * kPanelColumns;
  const size_t columns = b.columns - column < panels * kPanelColumns
                             ? b.columns - column
                             : panels * kPanelColumns;
  const float *bias = e.bias == nullptr ? nullptr : e.bias + column;
  const sv::V low = sv::Set(e.clamp ? e.low : -__builtin_inff());
  const sv::V high = sv::Set(e.clamp ? e.high : __builtin_inff());
  const size_t row = tile.row + tile.done;
  T *c = to + row * b.c_stride + column;
  const T *residual =
      from == nullptr ? nullptr : from + row * e.residual_stride + column;
  for (size_t r = tile.done; r < tile.rows; ++r) {
    const float *sum = sums + r * kPanelColumns;
    for (size_t i = 0; i < columns; i += kPanelColumns, sum += kTileFloats) {
      const int n = columns - i < kPanelColumns ? static_cast<int>(columns - i)
                                                : sv::kLanes;
      sv::V x = sv::Load(sum);
      if (bias != nullptr) x += sv::LoadN(bias + i, n);
      if (residual != nullptr) x += LoadResult(residual + i, n);
      x = sv::Min(sv::Max(x, low), high);
      StoreResult(c + i, x, n);
    }
    c += b.c_stride;
    if (residual != nullptr) residual += e.residual_stride;
  }
}

void Finish(const Block &b,
            const RowTile &tile,
            size_t panel,
            size_t panels,
            const float *sums) {
  const void *residual = b.epilogue.residual;
  if (b.c_type == Element::kBf16) {
    FinishAs(b, static_cast<uint16_t *>(b.c),
             static_cast<const uint16_t *>(residual), tile, panel, panels,
             sums);
  } else {
    FinishAs(b, static_cast<float *>(b.c), static_cast<const float *>(residual),
             tile, panel, panels, sums);
  }
}

// Where the weights after those of a product begin, if they are as many and in
// the same order; beyond the last panel null.
const uint16_t *After(const Block &b,
                      const Product &p,
                      size_t panel,
                      size_t panels,
                      const KBlock &s) {
  const size_t panel_end = b.taps * b.depth;
  const size_t begin = s.tap * b.depth + p.k_begin;
  // A K-block of several taps ends with whole taps.
  const size_t end =
      s.taps > 1 ? (s.tap + s.taps) * b.depth : begin + s.depth * p.step;
  if (end < panel_end) return p.w + (end - begin) * kPanelColumns;
  if (panel + 2 * panels > b.panel_end) return nullptr;
  return WeightsOf(b) + (panel + panels) * p.panel_stride;
}

// What the products of a block have in common; sums have room for `panels`.
Product ProductOf(const Block &b, size_t panels) {
  Product p = {};
  p.a = b.a;
  p.packed = static_cast<const uint16_t *>(b.packed);
  p.depth = b.depth;
  p.tap_stride = b.rows;
  p.taps = b.taps;
  p.w_tap_stride = b.depth * kPanelColumns;
  p.panel_stride = b.taps * p.w_tap_stride;
  p.tile_stride = panels * kTileFloats;
  return p;
}

// Tiles of a group by one or two panels.
void RunGroup(const Block &b,
              const Parts &parts,
              const RowTile *tiles,
              size_t count,
              size_t panel,
              size_t panels,
              bool fetch,
              Shapes *shapes) {
  alignas(64) float sums[kGroupTiles * kMaxPanels * kTileFloats];
  Product p = ProductOf(b, kMaxPanels);
  p.first = true;
  for (int i = 0; i < parts.count; ++i) {
    const Part &part = parts.part[i];
    const KExtent extent = {b.taps, part.steps, kKBlockSteps};
    p.step = part.step;
    for (KBlock s = FirstKBlock(extent); s.taps > 0;
         s = KBlockAfter(extent, s)) {
      const bool last = i + 1 == parts.count && IsLast(extent, s);
      if (b.packed == nullptr) p.a = b.a + s.tap * b.rows;
      p.taps = s.taps;
      p.k_begin = part.k_begin + s.k_begin * part.step;
      p.steps = s.depth;
      p.w = WeightsOf(b) + panel * p.panel_stride + s.tap * p.w_tap_stride +
            p.k_begin * kPanelColumns;
      const uint16_t *after = fetch ? After(b, p, panel, panels, s) : nullptr;
      for (size_t t = 0; t < count; t += 2) {
        const size_t two = t + 1 < count ? 2 : 1;
        p.tiles[0] = tiles[t];
        p.tiles[1] = tiles[t + two - 1];
        p.sums = sums + t * kMaxPanels * kTileFloats;
        p.ahead = t == 0 ? after : nullptr;
        shapes->Set(p.tiles[0].rows, p.tiles[1].rows, part.step);
        kMultiply[two - 1][panels - 1](p);
        if (!last) continue;
        for (size_t j = 0; j < two; ++j) {
          Finish(b, tiles[t + j], panel, panels, p.sums + j * p.tile_stride);
        }
      }
      p.first = false;
    }
  }
}

// Tiles by all panels, two tiles at a time.
void RunRows(const Block &b,
             const Parts &parts,
             const RowTile *tiles,
             size_t count,
             Shapes *shapes) {
  alignas(64) float sums[2 * kRowPanels * kTileFloats];
  Product p = ProductOf(b, kRowPanels);
  for (size_t t = 0; t < count; t += 2) {
    const size_t two = t + 1 < count ? 2 : 1;
    p.tiles[0] = tiles[t];
    p.tiles[1] = tiles[t + two - 1];
    for (size_t panel = b.panel_begin; panel < b.panel_end;) {
      const size_t left = b.panel_end - panel;
      const size_t panels = left < kRowPanels ? left : kRowPanels;
      for (size_t j = 0; j < panels; j += kMaxPanels) {
        p.sums = sums + j * kTileFloats;
        p.first = true;
        for (int i = 0; i < parts.count; ++i) {
          const Part &part = parts.part[i];
          p.step = part.step;
          p.steps = part.steps;
          p.k_begin = part.k_begin;
          p.w = WeightsOf(b) + (panel + j) * p.panel_stride +
                p.k_begin * kPanelColumns;
          shapes->Set(p.tiles[0].rows, p.tiles[1].rows, part.step);
          kMultiply[two - 1][panels - j > 1 ? 1 : 0](p);
          p.first = false;
        }
      }
      for (size_t i = 0; i < two; ++i) {
        Finish(b, tiles[t + i], panel, panels, sums + i * p.tile_stride);
      }
      panel += panels;
    }
  }
}

void Run(const Block &b) {
  const Parts parts = PartsOf(b.depth, b.taps);
  const size_t weights = (b.panel_end - b.panel_begin) * b.depth *
                         kPanelColumns * sizeof(uint16_t);
  const bool by_rows = b.taps == 1 && weights <= kResidentBytes;
  Shapes shapes;
  RowTile tiles[kChunkRows];
  for (size_t m = 0; m < b.rows; m += kChunkRows) {
    const size_t left = b.rows - m;
    const size_t end = m + (left < kChunkRows ? left : kChunkRows);
    const size_t count = b.packed != nullptr ? CutTiles(m, end, tiles)
                                             : FindTiles(b, m, end, tiles);
    if (by_rows) {
      RunRows(b, parts, tiles, count, &shapes);
      continue;
    }
    for (size_t panel = b.panel_begin; panel < b.panel_end;) {
      const size_t panels = b.panel_end - panel > 1 ? kMaxPanels : 1;
      for (size_t t = 0; t < count; t += kGroupTiles) {
        RunGroup(b, parts, tiles + t,
                 count - t < kGroupTiles ? count - t : kGroupTiles, panel,
                 panels, t == 0, &shapes);
      }
      panel += panels;
    }
  }
  ReleaseTiles();
}

}  // namespace

// All of K is one K-block to the caller: sums never rest in the output. Taps
// that rows lack are multiplied, by the border of the image.
extern const Arithmetic kBf16Arithmetic;
const Arithmetic kBf16Arithmetic = {
    "bf16 tiles",
    Element::kBf16,
    &Run,
    &avx512::RunVector,
    nullptr,
    2 * kTileRows,
    size_t{1} << 40,
    0,
    &Narrow,
    &WidenRow,
    &NarrowPadded,
    &Pack<float>,
    &Pack<uint16_t>,
    /*pads_images=*/true,
    /*integers=*/nullptr,
    /*rate=*/16.0,
};

}  // namespace mace::gemm::MACE_ISA
