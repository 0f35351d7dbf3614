// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How a product is divided into tiles: K into steps, rows into tiles; and the
// packing of rows in that order. Included only by amx_gemm_isa.cc.

#ifndef MACE_KERNELS_CPU_GEMM_AMX_ROWS_H_
#define MACE_KERNELS_CPU_GEMM_AMX_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/amx_tile.h"
#include "mace/kernels/cpu/gemm/bf16_narrow.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/k_blocks.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

inline constexpr size_t kChunkRows = 512;

struct RowTile {
  size_t row;  // in the block
  size_t rows;
  size_t done;  // how many of the first rows the previous tile computes too
};

// A part of K that exists in every tap, in equal steps of at most kTileDepth.
struct Part {
  size_t k_begin;
  size_t steps;
  size_t step;
};

struct Parts {
  Part part[2];
  int count;
};

// Uses equal steps for all of `depth` if a few more steps allow that (144 = 6 x
// 24); otherwise the remainder follows the whole tiles. A remainder costs about
// 4 steps, because all sums are stored and loaded once more and the registers
// are configured again.
[[maybe_unused]] static Parts PartsOf(size_t depth, size_t taps) {
  const size_t least = (depth + kTileDepth - 1) / kTileDepth;
  for (size_t steps = least; steps <= least + least / 4 + 1; ++steps) {
    if ((steps - least) * taps > 4) break;
    if (depth % (2 * steps) == 0) return {{{0, steps, depth / steps}, {}}, 1};
  }
  const size_t whole = depth / kTileDepth;
  const size_t rest = depth % kTileDepth;
  if (whole == 0) return {{{0, 1, rest}, {}}, 1};
  return {{{0, whole, kTileDepth}, {whole * kTileDepth, 1, rest}}, 2};
}

// Divides rows [begin, end) of a block into tiles of equally spaced rows and
// returns the number of tiles. Only the distances in the first tap are checked:
// the image has its padding in memory, so the distance between two taps is the
// same for all rows.
[[maybe_unused]] static size_t FindTiles(const Block &b,
                                         size_t begin,
                                         size_t end,
                                         RowTile (&tiles)[kChunkRows]) {
  uint8_t bends[kChunkRows] = {};  // between a row, the last and that before
  const size_t rows = end - begin;
  const auto row = [&](size_t m) {
    return static_cast<const uint16_t *>(b.a[begin + m]);
  };
  for (size_t m = 2; m < rows; ++m) {
    bends[m] = row(m) - row(m - 1) != row(m - 1) - row(m - 2);
  }
  size_t count = 0;
  for (size_t m = 0; m < rows;) {
    size_t run_end = m + 1 < rows ? m + 2 : m + 1;
    while (run_end < rows && bends[run_end] == 0) ++run_end;
    // All tiles get about the same height, since configuring the registers
    // costs more than computing some rows twice.
    const size_t run = run_end - m;
    const size_t cuts = (run + kTileRows - 1) / kTileRows;
    const size_t tall = (run + cuts - 1) / cuts;
    for (size_t i = 0; i < cuts; ++i) {
      const size_t from = (i + 1) * tall <= run ? i * tall : run - tall;
      tiles[count++] = {begin + m + from, tall, i * tall - from};
    }
    m = run_end;
  }
  return count;
}

// The same for packed rows.
[[maybe_unused]] static size_t CutTiles(size_t begin,
                                        size_t end,
                                        RowTile (&tiles)[kChunkRows]) {
  size_t count = 0;
  while (begin < end) {
    const size_t tall = NextTiles(end - begin, kTileRows).rows;
    tiles[count++] = {begin, tall, 0};
    begin += tall;
  }
  return count;
}

// Packs one step of a row.
MACE_SIMD_INLINE void PackStep(const float *from, size_t count, uint16_t *to) {
  if (count == kTileDepth) {
    sv::StoreHalfBits(to, sv::NarrowBf16Fast(sv::Load(from)));
    sv::StoreHalfBits(to + 16, sv::NarrowBf16Fast(sv::Load(from + 16)));
  } else {
    Narrow(from, to, count);
  }
}

MACE_SIMD_INLINE void PackStep(const uint16_t *from,
                               size_t count,
                               uint16_t *to) {
  if (count == kTileDepth) {
    sv::StoreHalfBits(to, sv::LoadHalfBits(from));
    sv::StoreHalfBits(to + 16, sv::LoadHalfBits(from + 16));
  } else {
    __builtin_memcpy(to, from, count * sizeof(uint16_t));
  }
}

// The order is tiles, then steps within a tile, then rows within a step.
template <typename T>
static void Pack(const void *const *a,
                 size_t rows,
                 size_t count,
                 uint16_t *to) {
  const size_t depth = (count + 1) / 2 * 2;
  const Parts parts = PartsOf(depth, 1);
  RowTile tiles[kChunkRows];
  for (size_t begin = 0; begin < rows; begin += kChunkRows) {
    const size_t left = rows - begin;
    const size_t found =
        CutTiles(begin, begin + (left < kChunkRows ? left : kChunkRows), tiles);
    for (size_t t = 0; t < found; ++t) {
      const RowTile &tile = tiles[t];
      uint16_t *tile_to = to + tile.row * depth;
      for (size_t r = 0; r < tile.rows; ++r) {
        const T *from = static_cast<const T *>(a[tile.row + r]);
        for (int i = 0; i < parts.count; ++i) {
          const Part &part = parts.part[i];
          uint16_t *at = tile_to + part.k_begin * tile.rows + r * part.step;
          size_t k = part.k_begin;
          for (size_t s = 0; s < part.steps; ++s) {
            // With an odd count, the last number has no partner in its pair.
            const size_t end = k + part.step < count ? k + part.step : count;
            PackStep(from + k, end - k, at);
            if (end < k + part.step) at[part.step - 1] = 0;
            at += tile.rows * part.step;
            k += part.step;
          }
        }
      }
    }
  }
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_AMX_ROWS_H_
