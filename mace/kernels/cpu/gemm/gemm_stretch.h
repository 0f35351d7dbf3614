// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How a product is cut: K into stretches, rows into tiles. Included by the
// *_isa.cc of this family only.

#ifndef MACE_KERNELS_CPU_GEMM_GEMM_STRETCH_H_
#define MACE_KERNELS_CPU_GEMM_GEMM_STRETCH_H_

#include <cstddef>

#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

// Rows of the next tile when `left` remain: as even as possible, so that 49
// rows by tiles of 6 are 4 x 6 + 5 x 5 and no tile is a sliver.
struct Heights {
  size_t rows;
  size_t count;  // of tiles in a row that have so many
};
MACE_SIMD_INLINE Heights NextTiles(size_t left, size_t max_rows) {
  const size_t tiles = (left + max_rows - 1) / max_rows;
  const size_t longer = left % tiles;
  if (longer == 0) return {left / tiles, tiles};
  return {left / tiles + 1, longer};
}

// A part of K: of one tap, or whole taps.
struct Stretch {
  size_t tap;      // first tap
  size_t taps;     // number of taps; 0: K has ended
  size_t k_begin;  // within the tap
  size_t depth;    // of every tap
};

// A product of `taps` segments of `depth` products, and how many products a
// stretch has at most (about twice as many of one tap are halved).
struct Extent {
  size_t taps;
  size_t depth;
  size_t block;
};

MACE_SIMD_INLINE Stretch StretchAt(const Extent &e,
                                   size_t tap,
                                   size_t k_begin) {
  if (e.depth >= e.block) {
    const size_t left = e.depth - k_begin;
    // A short rest is taken along by halving: 600 = 300 + 300. An even half
    // splits no pair.
    const size_t depth = left <= e.block      ? left
                         : left < 2 * e.block ? (left + 3) / 4 * 2
                                              : e.block;
    return {tap, 1, k_begin, depth};
  }
  const size_t fit = e.block / e.depth;
  const size_t left = e.taps - tap;
  return {tap, left < fit ? left : fit, 0, e.depth};
}

MACE_SIMD_INLINE Stretch FirstStretch(const Extent &e) {
  return StretchAt(e, 0, 0);
}

// Products of a column up to and with this stretch.
MACE_SIMD_INLINE size_t Done(const Extent &e, const Stretch &s) {
  return (s.tap + s.taps - 1) * e.depth + s.k_begin + s.depth;
}

MACE_SIMD_INLINE bool IsLast(const Extent &e, const Stretch &s) {
  return Done(e, s) == e.taps * e.depth;
}

MACE_SIMD_INLINE Stretch StretchAfter(const Extent &e, const Stretch &s) {
  if (IsLast(e, s)) return {e.taps, 0, 0, 0};
  const size_t k_end = s.k_begin + s.depth;
  if (k_end < e.depth) return StretchAt(e, s.tap, k_end);
  return StretchAt(e, s.tap + s.taps, 0);
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_GEMM_STRETCH_H_
