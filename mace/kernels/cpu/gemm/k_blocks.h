// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How a product is divided: K into blocks, rows into tiles. Included only by
// the *_isa.cc files of this family.

#ifndef MACE_KERNELS_CPU_GEMM_K_BLOCKS_H_
#define MACE_KERNELS_CPU_GEMM_K_BLOCKS_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

// The height of the next tile when `left` rows remain. Heights are as equal as
// possible: 49 rows with tiles of 6 are 4 x 6 + 5 x 5, so that no tile is very
// low.
struct Heights {
  size_t rows;
  size_t count;  // of consecutive tiles with this many rows
};
MACE_SIMD_INLINE Heights NextTiles(size_t left, size_t max_rows) {
  const size_t tiles = (left + max_rows - 1) / max_rows;
  const size_t longer = left % tiles;
  if (longer == 0) return {left / tiles, tiles};
  return {left / tiles + 1, longer};
}

// A part of K: part of one tap, or whole taps.
struct KBlock {
  size_t tap;      // first tap
  size_t taps;     // number of taps; 0: K has ended
  size_t k_begin;  // within the tap
  size_t depth;    // of every tap
};

// K consists of `taps` segments of `depth` products. A K-block has at most
// `block` of them; a remainder of up to about twice that in one tap is divided
// into halves.
struct KExtent {
  size_t taps;
  size_t depth;
  size_t block;
  uint64_t used = 0;   // bit t: some row reads tap t; only with tap runs
  bool skips = false;  // unused taps; a K-block is of one tap then
};

MACE_SIMD_INLINE KExtent ExtentOf(const TapRuns &runs,
                                  size_t taps,
                                  size_t depth,
                                  size_t block) {
  if (runs.count == 0) return {taps, depth, block};
  uint64_t used = 0;
  for (size_t i = 0; i < runs.count; ++i) used |= runs.run[i].taps;
  return {taps, depth, depth < block ? depth : block, used, true};
}

MACE_SIMD_INLINE KBlock KBlockAt(const KExtent &e, size_t tap, size_t k_begin) {
  if (e.skips && k_begin == 0) {
    while (tap < e.taps && (e.used >> tap & 1) == 0) ++tap;
  }
  if (tap == e.taps) return {e.taps, 0, 0, 0};
  if (e.depth >= e.block) {
    const size_t left = e.depth - k_begin;
    // A remainder up to twice the block size is divided into halves: 600 = 300
    // + 300. The size of a half is even, so that no pair is divided.
    const size_t depth = left <= e.block      ? left
                         : left < 2 * e.block ? (left + 3) / 4 * 2
                                              : e.block;
    return {tap, 1, k_begin, depth};
  }
  const size_t fit = e.block / e.depth;
  const size_t left = e.taps - tap;
  return {tap, left < fit ? left : fit, 0, e.depth};
}

MACE_SIMD_INLINE KBlock FirstKBlock(const KExtent &e) {
  return KBlockAt(e, 0, 0);
}

// The offset of a K-block in the weights of a panel, in products.
MACE_SIMD_INLINE size_t OffsetOf(const KExtent &e, const KBlock &k) {
  return k.tap * e.depth + k.k_begin;
}

MACE_SIMD_INLINE bool EndsTaps(const KExtent &e, const KBlock &k) {
  return k.k_begin + k.depth == e.depth;
}

MACE_SIMD_INLINE bool IsFirst(const KBlock &k) {
  return k.tap == 0 && k.k_begin == 0;
}

MACE_SIMD_INLINE bool IsLast(const KExtent &e, const KBlock &k) {
  return k.tap + k.taps == e.taps && EndsTaps(e, k);
}

MACE_SIMD_INLINE KBlock KBlockAfter(const KExtent &e, const KBlock &k) {
  if (!EndsTaps(e, k)) return KBlockAt(e, k.tap, k.k_begin + k.depth);
  return KBlockAt(e, k.tap + k.taps, 0);
}

// Rows [begin, end) that read a K-block, and whether it is the first or the
// last one that they read.
struct KBlockRows {
  size_t begin;
  size_t end;
  bool first;
  bool last;
};

// Finds the rows that read a K-block, in ranges as long as possible, because
// they make taller tiles. `next` counts the runs passed over; returns false
// after the last range.
__attribute__((noinline)) inline bool FindRows(const TapRuns &runs,
                                               const KExtent &e,
                                               const KBlock &k,
                                               size_t *next,
                                               KBlockRows *found) {
  *found = {0, 0, false, false};
  for (; *next < runs.count; ++*next) {
    const TapRun &r = runs.run[*next];
    const uint64_t from_here = r.taps >> k.tap;
    if ((from_here & 1) == 0) continue;
    const bool first = k.k_begin == 0 && r.taps == from_here << k.tap;
    const bool last = from_here == 1 && EndsTaps(e, k);
    if (found->end == 0) {
      *found = {r.begin, r.end, first, last};
    } else if (found->end == r.begin && found->first == first &&
               found->last == last) {
      found->end = r.end;
    } else {
      break;
    }
  }
  return found->end > 0;
}

// Calls run(KBlockRows) for all rows that read the K-block. The call stands
// once, so that it is inlined: a product of few rows takes little longer.
template <typename Run>
MACE_SIMD_INLINE void ForRowsThatRead(const TapRuns &runs,
                                      size_t rows,
                                      const KExtent &e,
                                      const KBlock &k,
                                      Run run) {
  KBlockRows range = {0, rows, IsFirst(k), IsLast(e, k)};
  size_t next = 0;
  while (runs.count == 0 || FindRows(runs, e, k, &next, &range)) {
    run(range);
    if (next == runs.count) return;
  }
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_K_BLOCKS_H_
