// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product of bf16 numbers with the tiles of AMX. 2 x 2 tiles of
// sums, 32 rows by 32 columns, are computed at a time.
//
// A tile of the left operand is loaded directly from the rows if these are
// equally far apart in memory, as neighbouring pixels of an image row are.
// Therefore the rows of a block are divided into tiles of equally spaced rows
// (FindTiles); Arithmetic::pads_images makes images have their padding in
// memory, so that it does not interrupt the spacing. Rows with a stride between
// them are packed, since otherwise few of them would form a tile.
//
// There are two loop orders. Weights of one tap that fit L2 stay in L2 while
// pairs of row tiles are multiplied by all of them: results are written as long
// rows, which is fast, and a pair of tiles stays in L1 (RunRows). Otherwise a
// K-block of the weights stays in cache while a group of row tiles is
// multiplied by it, and the next K-block is prefetched; the sums of the group
// are kept in a separate buffer between K-blocks (RunGroup).

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
// L1 holds. The sums of a group are loaded and stored once per K-block, which
// costs more than shorter blocks would save: measure 3x3 kernels before you
// change this.
constexpr size_t kKBlockSteps = 40;
constexpr size_t kGroupTiles = 8;
// Weights for RunRows: a quarter of the L2 of processors with AMX.
constexpr size_t kResidentBytes = 512 * 1024;
// Panels that RunRows computes before it writes results: 256 bytes of a row of
// bf16.
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

// Writes the sums of a tile and some panels, [panel][row][16], to the output
// row by row. T is float, or uint16_t for bf16.
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

// The address of the weights that follow those of a product, if there are as
// many in the same order; null after the last panel.
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

// The fields that all products of a block share. There is room for the sums of
// `panels` panels.
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

// Multiplies the tiles of a group by one or two panels.
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

// Multiplies tiles by all panels, two tiles at a time.
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

// For the caller, all of K is one K-block: the output never holds partial sums.
// Taps that a row lacks are multiplied too; they read the padding of the image.
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
    /*reads_steps=*/false,
    /*integers=*/nullptr,
    /*rate=*/16.0,
};

}  // namespace mace::gemm::MACE_ISA
