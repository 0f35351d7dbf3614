// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The register tile of the matrix product: kRows x (kVectors * kLanes) sums
// stay in registers for all of K. Included only by the *_isa.cc files of this
// family.

#ifndef MACE_KERNELS_CPU_GEMM_GEMM_TILE_H_
#define MACE_KERNELS_CPU_GEMM_GEMM_TILE_H_

#include <cstddef>
#include <type_traits>

#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {
namespace sv = simd::MACE_ISA;
}  // namespace mace::gemm::MACE_ISA

#if defined(__arm__)
#include "mace/kernels/cpu/gemm/neon32_tile.h"
#endif

namespace mace::gemm::MACE_ISA {

// Whether tiles read packed rows.
#if defined(__arm__)
inline constexpr bool kPacksRows = true;
#else
inline constexpr bool kPacksRows = false;
#endif

// What to prefetch while a tile runs: `step` floats per product of K, at most a
// line; 0: always the same line. Prefetching two lines per product, which would
// fetch all of four panels even in two tiles, made MobileNet v1 and v2 2 to 5 %
// slower and other networks no faster.
struct Ahead {
  const float *at = nullptr;
  size_t step = 0;
};

// With kPacksRows: packed rows, [count][taps * depth][4]. Otherwise pointers;
// row r of tap t is rows[t * tap_stride + r].
using TileRows =
    std::conditional_t<kPacksRows, const float *, const void *const *>;

// `count` tiles one below the other, over one K-block: `taps` segments of
// `depth` products each.
struct Tile {
  size_t count;  // of tiles
  TileRows rows;
  size_t tap_stride;
  size_t taps;
  size_t k_begin;  // offset into every row
  size_t depth;
  const float *w;       // [taps * depth][16] of the first panel
  size_t panel_stride;  // floats from a panel to the next
  float *c;
  size_t c_stride;
  const float *init;      // a value per column to start from; null: from c
  const float *residual;  // added at the end; null: nothing
  size_t residual_stride;
  bool clamp;  // to [low, high], at the end
  float low;
  float high;
  int columns;  // that exist: all kVectors * kLanes unless kCheapMasks
  Ahead ahead;
};

inline constexpr int kPanelWidth = 16;

// Whether all tiles are within one panel. Then a row of tiles goes on with what
// the one before it prefetches.
inline constexpr bool kOnePanel = sv::kLanes < kPanelWidth;

// Arithmetic::row_tile: rows per tile of a group of columns (gemm_isa.cc).
inline constexpr size_t kRowTile = sv::kLaneFma || kPacksRows ? 4 : 6;

// The offset of column vector v of a tile from the tile's first weight.
MACE_SIMD_INLINE size_t VectorOffset(int v, size_t panel_stride) {
  const int column = v * sv::kLanes;
  return static_cast<size_t>(column / kPanelWidth) * panel_stride +
         static_cast<size_t>(column % kPanelWidth);
}

// Every loop over rows and vectors must be unrolled; otherwise the sums do not
// stay in registers.
#define MACE_UNROLL _Pragma("clang loop unroll(full)")

// Adds one product of K to all sums, with A broadcast from memory: for ISAs
// that cannot multiply by a lane.
template <int kRows, int kVectors>
MACE_SIMD_INLINE void StepBroadcast(sv::V (&acc)[kRows][kVectors],
                                    const float *const (&a)[kRows],
                                    size_t k,
                                    const float *w,
                                    size_t panel_stride) {
  sv::V wv[kVectors];
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    wv[v] = sv::Load(w + VectorOffset(v, panel_stride));
  }
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    const sv::V x = sv::Set(a[r][k]);
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = sv::Fma(x, wv[v], acc[r][v]);
    }
  }
}

// The same for a whole panel, whose vectors are adjacent, with A from lane
// kLane of the row vectors.
template <int kLane, int kRows>
MACE_SIMD_INLINE const float *StepPanel(sv::V (&acc)[kRows][4],
                                        const sv::V (&x)[kRows],
                                        const float *w) {
  sv::V wv[4];
  sv::LoadFour(w, wv);
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    MACE_UNROLL for (int v = 0; v < 4; ++v) {
      acc[r][v] = sv::FmaLane<kLane>(acc[r][v], wv[v], x[r]);
    }
  }
  return sv::Advance(w, kPanelWidth);
}

template <int kRows>
MACE_SIMD_INLINE const float *StepFour(sv::V (&acc)[kRows][4],
                                       const sv::V (&x)[kRows],
                                       const float *w) {
  w = StepPanel<0>(acc, x, w);
  w = StepPanel<1>(acc, x, w);
  w = StepPanel<2>(acc, x, w);
  return StepPanel<3>(acc, x, w);
}

// Eight products; a row's values are loaded as a pair of vectors. Advances `a`.
template <int kRows>
MACE_SIMD_INLINE const float *StepEight(sv::V (&acc)[kRows][4],
                                        const float *(&a)[kRows],
                                        const float *w) {
  sv::V x[kRows];
  sv::V y[kRows];
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    x[r] = sv::Load(a[r]);
    y[r] = sv::Load(a[r] + 4);
    a[r] = sv::Advance(a[r], 8);
  }
  w = StepFour(acc, x, w);
  return StepFour(acc, y, w);
}

// Eight products per iteration: with sixteen, the compiler would need more
// registers than there are.
template <int kRows>
MACE_SIMD_INLINE const float *RunTapOfPanel(sv::V (&acc)[kRows][4],
                                            const float *const (&rows)[kRows],
                                            size_t depth,
                                            const float *w) {
  const float *a[kRows];
  MACE_UNROLL for (int r = 0; r < kRows; ++r) a[r] = sv::Advance(rows[r], 0);
#pragma clang loop unroll(disable)
  for (size_t rounds = depth / 8; rounds != 0; --rounds) {
    w = StepEight(acc, a, w);
  }
#pragma clang loop unroll(disable)
  for (size_t k = 0; k < depth % 8; ++k, w += kPanelWidth) {
    StepBroadcast(acc, a, k, w, kPanelWidth);
  }
  return w;
}

// Products per iteration of the main loop of a tall tile of whole panels, if
// more than one is faster: on Sapphire Rapids with AVX2, 8 take 0.93 to 0.97
// times as long. An iteration prefetches one line.
inline constexpr size_t kLongStep = sv::kLanes == 8 ? 8 : 1;

template <int kRows, int kVectors>
MACE_SIMD_INLINE const float *RunTap(sv::V (&acc)[kRows][kVectors],
                                     const float *(&a)[kRows],
                                     size_t depth,
                                     const float *w,
                                     size_t panel_stride,
                                     Ahead *ahead) {
  if constexpr (sv::kLoadsFour && kVectors == 4) {
    return RunTapOfPanel(acc, a, depth, w);
  }
  // Not if more than a line has to be prefetched in the time of an iteration.
  if (kLongStep > 1 && kVectors == 2 && kRows >= 4 &&
      ahead->step * kLongStep <= kPanelWidth) {
#pragma clang loop unroll(disable)
    for (size_t rounds = depth / kLongStep; rounds != 0; --rounds) {
      sv::PrefetchForReading(ahead->at);
      ahead->at += kLongStep * ahead->step;
      MACE_UNROLL for (size_t k = 0; k < kLongStep; ++k, w += kPanelWidth) {
        StepBroadcast(acc, a, k, w, panel_stride);
      }
      MACE_UNROLL for (int r = 0; r < kRows; ++r) a[r] += kLongStep;
    }
    depth %= kLongStep;
  }
#pragma clang loop unroll(disable)
  for (size_t k = 0; k < depth; ++k, w += kPanelWidth) {
    if constexpr (sv::kPrefetch) {
      sv::PrefetchForReading(ahead->at);
      ahead->at += ahead->step;
    }
    StepBroadcast(acc, a, k, w, panel_stride);
  }
  return w;
}

// Column vector v of kVectors at p. On ISAs with cheap masks, the tile's last
// vector may be partial; on others tiles are always whole (RunPartial).
template <int kVectors>
MACE_SIMD_INLINE sv::V LoadColumns(const float *p, int v, int columns) {
  if (!sv::kCheapMasks || v < kVectors - 1) return sv::Load(p);
  return sv::LoadN(p, columns - v * sv::kLanes);
}

template <int kVectors>
MACE_SIMD_INLINE void StoreColumns(float *p, sv::V x, int v, int columns) {
  if (!sv::kCheapMasks || v < kVectors - 1) {
    sv::Store(p, x);
  } else {
    sv::StoreN(p, x, columns - v * sv::kLanes);
  }
}

template <int kVectors>
MACE_SIMD_INLINE void LoadRow(const float *p,
                              int columns,
                              sv::V (&to)[kVectors]) {
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    to[v] = LoadColumns<kVectors>(p + v * sv::kLanes, v, columns);
  }
}

template <int kVectors>
MACE_SIMD_INLINE void StoreRow(float *p,
                               int columns,
                               const sv::V (&from)[kVectors]) {
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    StoreColumns<kVectors>(p + v * sv::kLanes, from[v], v, columns);
  }
}

template <int kRows, int kVectors>
MACE_SIMD_INLINE void Begin(sv::V (&acc)[kRows][kVectors], const Tile &t) {
  if (t.init != nullptr) {
    // Separate pointers, although some may be equal: on ISAs that load pairs of
    // vectors, loading a row takes half as many instructions as copying it.
    const float *init[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      init[r] =
          r == 0 || !sv::kLoadsFour ? t.init : sv::Advance(init[r - 1], 0);
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = sv::Load(init[r] + v * sv::kLanes);
      }
    }
    return;
  }
  const float *p = t.c;
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    LoadRow(p, t.columns, acc[r]);
    p += t.c_stride;
  }
}

template <int kRows, int kVectors>
MACE_SIMD_INLINE void ClampSums(sv::V (&acc)[kRows][kVectors], const Tile &t) {
  if (t.clamp) {
    const sv::V low = sv::Set(t.low);
    const sv::V high = sv::Set(t.high);
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = sv::Max(acc[r][v], low);
      }
    }
    // A ReLU has no upper bound.
    if (t.high < __builtin_inff()) {
      MACE_UNROLL for (int r = 0; r < kRows; ++r) {
        MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
          acc[r][v] = sv::Min(acc[r][v], high);
        }
      }
    }
  }
}

template <int kRows, int kVectors>
MACE_SIMD_INLINE void Finish(sv::V (&acc)[kRows][kVectors], const Tile &t) {
  if (t.residual != nullptr) {
    const float *p = t.residual;
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      sv::V x[kVectors];
      LoadRow(p, t.columns, x);
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) acc[r][v] += x[v];
      p += t.residual_stride;
    }
  }
  ClampSums(acc, t);
  float *p = t.c;
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    StoreRow(p, t.columns, acc[r]);
    p += t.c_stride;
  }
}

// Prefetches the lines that the tile will add to and store, so that they arrive
// while it multiplies: a store to a line in L3 delays the stores after it.
template <int kRows, int kVectors>
MACE_SIMD_INLINE void PrefetchOutputs(const Tile &t) {
  if constexpr (sv::kPrefetch) {
    constexpr int kFloats = kVectors * sv::kLanes;
    if (t.init != nullptr) {
      MACE_UNROLL for (int r = 0; r < kRows; ++r) {
        const float *p = t.c + static_cast<size_t>(r) * t.c_stride;
        MACE_UNROLL for (int i = 0; i < kFloats; i += kPanelWidth) {
          sv::PrefetchForWriting(p + i);
        }
      }
    }
    if (t.residual != nullptr) {
      MACE_UNROLL for (int r = 0; r < kRows; ++r) {
        const float *p =
            t.residual + static_cast<size_t>(r) * t.residual_stride;
        MACE_UNROLL for (int i = 0; i < kFloats; i += kPanelWidth) {
          sv::PrefetchForReading(p + i);
        }
      }
    }
  }
}

template <int kRows, int kVectors>
MACE_SIMD_INLINE void RunOne(const Tile &t) {
  sv::V acc[kRows][kVectors];
  PrefetchOutputs<kRows, kVectors>(t);
  Begin(acc, t);
#if defined(__arm__)
  if constexpr (kRows < kPackedRows) {
    MultiplyPacked(acc, t.rows, t.w, t.taps * t.depth);
  }
#else
  Ahead ahead = t.ahead;
  const float *w = t.w;
  const void *const *rows = t.rows;
  for (size_t tap = 0; tap < t.taps; ++tap, rows += t.tap_stride) {
    const float *a[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      a[r] = static_cast<const float *>(rows[r]);
    }
    if (__builtin_expect(t.k_begin != 0, 0)) {
      MACE_UNROLL for (int r = 0; r < kRows; ++r) {
        a[r] = sv::Advance(a[r], t.k_begin);
      }
    }
    w = RunTap(acc, a, t.depth, w, t.panel_stride, &ahead);
  }
#endif
  Finish(acc, t);
}

template <int kRows, int kVectors>
void RunTiles(const Tile &tiles) {
#if defined(__arm__)
  if constexpr (kRows == kPackedRows) {
    RunFourRows({tiles.count, tiles.rows, tiles.taps * tiles.depth, tiles.w,
                 tiles.c, tiles.c_stride, tiles.init, tiles.residual,
                 tiles.residual_stride, tiles.clamp, tiles.low, tiles.high});
    return;
  }
#endif
  Tile t = tiles;
  for (; t.count != 0; --t.count) {
    RunOne<kRows, kVectors>(t);
    t.rows += kPacksRows ? kRows * t.taps * t.depth : kRows;
    t.c += kRows * t.c_stride;
    if (t.residual != nullptr) t.residual += kRows * t.residual_stride;
    if constexpr (kOnePanel) t.ahead.at += t.taps * t.depth * t.ahead.step;
  }
}

using TileFunction = void (*)(const Tile &);

// One tile with fewer columns than vectors can hold, computed in a copy of its
// output.
inline constexpr size_t kMaxPartialRows = 8;
inline constexpr size_t kMaxPartialColumns = 16;
[[maybe_unused]] static void RunPartial(TileFunction run,
                                        Tile t,
                                        size_t rows,
                                        size_t width) {
  float sums[kMaxPartialRows * kMaxPartialColumns] = {};
  float residual[kMaxPartialRows * kMaxPartialColumns] = {};
  const size_t bytes = static_cast<size_t>(t.columns) * sizeof(float);
  float *c = t.c;
  for (size_t r = 0; r < rows; ++r) {
    if (t.init == nullptr) {
      __builtin_memcpy(sums + r * width, c + r * t.c_stride, bytes);
    }
    if (t.residual != nullptr) {
      __builtin_memcpy(residual + r * width, t.residual + r * t.residual_stride,
                       bytes);
    }
  }
  const size_t stride = t.c_stride;
  t.c = sums;
  t.c_stride = width;
  if (t.residual != nullptr) t.residual = residual;
  t.residual_stride = width;
  run(t);
  for (size_t r = 0; r < rows; ++r) {
    __builtin_memcpy(c + r * stride, sums + r * width, bytes);
  }
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_GEMM_TILE_H_
