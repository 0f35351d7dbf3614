// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The transforms: a one-dimensional transform, applied to columns, then to
// rows.

#include <cstdint>

#include "mace/kernels/cpu/simd_element.h"
#include "mace/kernels/cpu/winograd/winograd.h"
#include "mace/kernels/cpu/winograd/winograd_output.h"
#include "mace/kernels/cpu/winograd/winograd_tile.h"

namespace mace::winograd::MACE_ISA {
namespace {

constexpr size_t kPanel = gemm::kPanelColumns;

// ---- filter ----------------------------------------------------------------

// A panel of weights of any type.
struct FilterPanel {
  gemm::WeightType type;
  const char *weights;
  const float *scales;  // of kI8, and then the offsets
};

// Numbers of a tap in pairs.
constexpr size_t PairedTap(size_t channels) {
  return (channels + channels % 2) * kPanel;
}

MACE_SIMD_INLINE FilterPanel PanelOf(const FilterArgs &x, size_t panel) {
  const char *from = static_cast<const char *>(x.from);
  const size_t weights = 9 * x.channels * kPanel;
  switch (x.type) {
    case gemm::WeightType::kF32:
      return {x.type, from + panel * weights * sizeof(float), nullptr};
    case gemm::WeightType::kI8:
      from += panel * (gemm::kScaleBytes + weights);
      return {x.type, from + gemm::kScaleBytes,
              reinterpret_cast<const float *>(from)};
    case gemm::WeightType::kBf16Pairs:
      return {x.type,
              from + panel * 9 * PairedTap(x.channels) * sizeof(uint16_t),
              nullptr};
    default:
      return {x.type, from + panel * weights * sizeof(uint16_t), nullptr};
  }
}

MACE_SIMD_INLINE fv::V LoadWeights(const FilterPanel &x, size_t at) {
  if (x.type == gemm::WeightType::kI8) {
    const float *scales = x.scales + at % kPanel;
    return fv::Fma(
        fv::LoadInt8(reinterpret_cast<const int8_t *>(x.weights) + at),
        fv::Load(scales), fv::Load(scales + kPanel));
  }
  const uint16_t *from = reinterpret_cast<const uint16_t *>(x.weights) + at;
  return x.type == gemm::WeightType::kF16 ? fv::LoadF16(from)
                                          : fv::LoadBf16(from);
}

// Floats of each tap that are widened before they are transformed. All types
// share one transform: unrolled for each type, it would be 5 KB larger.
constexpr size_t kRun = 128;

// Converts weights [begin, begin + count) of every tap to [9][kRun]; for
// weights in pairs, stored as [channels / 2][16][2].
void WidenPairs(const FilterPanel &from,
                size_t tap_stride,
                size_t begin,
                size_t count,
                float *to) {
  for (size_t tap = 0; tap < 9; ++tap, to += kRun) {
    const uint16_t *w = reinterpret_cast<const uint16_t *>(from.weights) +
                        tap * PairedTap(tap_stride / kPanel);
    for (size_t i = 0; i < count; i += fv::kLanes) {
      const size_t channel = (begin + i) / kPanel;
      const fv::VU pairs = fv::LoadBf16Pairs(w + channel / 2 * 2 * kPanel +
                                             2 * ((begin + i) % kPanel));
      fv::Store(to + i, channel % 2 == 0 ? fv::EarlierBf16(pairs)
                                         : fv::LaterBf16(pairs));
    }
  }
}

// The same for the other types.
void WidenRun(const FilterPanel &from,
              size_t tap_stride,
              size_t begin,
              size_t count,
              float *to) {
  for (size_t tap = 0; tap < 9; ++tap, to += kRun) {
    for (size_t i = 0; i < count; i += fv::kLanes) {
      fv::Store(to + i, LoadWeights(from, tap * tap_stride + begin + i));
    }
  }
}

// Transforms `count` weights of every tap, a vector at a time. The compiler
// removes the arithmetic of the other rows.
template <typename Tile, Rows kRows>
void FilterRun(const float *from,
               size_t tap_stride,
               size_t count,
               Point *out,
               size_t to_stride) {
  constexpr int t = Tile::kPoints;
  constexpr int kBegin = RowBegin(t, kRows);
  constexpr int kEnd = RowEnd(t, kRows);
  ptrdiff_t points[t];
  MakeOffsets<Point>(to_stride, points);
  Point *to[t];
  MACE_UNROLL for (int row = kBegin; row < kEnd; ++row) {
    to[row] = out + static_cast<size_t>((row - kBegin) * t) * to_stride;
  }
  for (size_t i = 0; i < count; i += fv::kLanes) {
    fv::V columns[t][3];
    MACE_UNROLL for (size_t col = 0; col < 3; ++col) {
      fv::V g[3];
      MACE_UNROLL for (size_t row = 0; row < 3; ++row) {
        g[row] = fv::Load(from + (row * 3 + col) * tap_stride + i);
      }
      fv::V u[t];
      Tile::Filter(g, u);
      MACE_UNROLL for (int row = 0; row < t; ++row) columns[row][col] = u[row];
    }
    MACE_UNROLL for (int row = kBegin; row < kEnd; ++row) {
      fv::V u[t];
      Tile::Filter(columns[row], u);
      MACE_UNROLL for (int col = 0; col < t; ++col) {
        pv::StoreRounded(At(to[row], points[col]), u[col]);
      }
      to[row] = sv::Advance(to[row], fv::kLanes);
    }
  }
}

template <typename Tile, Rows kRows>
void Filter(const FilterArgs &args) {
  const FilterArgs x = args;  // a store cannot change the copy
  const size_t tap_stride = x.channels * kPanel;
  Point *to = static_cast<Point *>(x.to);
  for (size_t panel = x.panel_begin; panel < x.panel_end; ++panel) {
    const FilterPanel from = PanelOf(x, panel);
    if (x.type == gemm::WeightType::kF32) {
      FilterRun<Tile, kRows>(reinterpret_cast<const float *>(from.weights),
                             tap_stride, tap_stride, to, x.to_stride);
    } else {
      alignas(64) float widened[9 * kRun];
      for (size_t begin = 0; begin < tap_stride; begin += kRun) {
        const size_t left = tap_stride - begin;
        const size_t count = left < kRun ? left : kRun;
        if (x.type == gemm::WeightType::kBf16Pairs) {
          WidenPairs(from, tap_stride, begin, count, widened);
        } else {
          WidenRun(from, tap_stride, begin, count, widened);
        }
        FilterRun<Tile, kRows>(widened, kRun, count, to + begin, x.to_stride);
      }
    }
    to += tap_stride;
  }
}

// ---- input -----------------------------------------------------------------

// Channels [c, c + kLanes), of which `count` exist.
template <typename Tile, Rows kRows, bool kWhole>
MACE_SIMD_INLINE void TransformChannels(
    const InputArgs &x,
    size_t c,
    int count,
    const ptrdiff_t (&points)[Tile::kPoints],
    Point *(&to)[Tile::kPoints]) {
  constexpr int t = Tile::kPoints;
  sv::V columns[t][t];
  MACE_UNROLL for (int col = 0; col < t; ++col) {
    sv::V d[t];
    MACE_UNROLL for (int row = 0; row < t; ++row) {
      const Element *p =
          static_cast<const Element *>(x.pixels[row * t + col]) + c;
      d[row] = kWhole ? sv::Load(p) : sv::LoadN(p, count);
    }
    sv::V v[t];
    Tile::Input(d, v);
    MACE_UNROLL for (int row = 0; row < t; ++row) columns[row][col] = v[row];
  }
  MACE_UNROLL for (int row = RowBegin(t, kRows); row < RowEnd(t, kRows);
                   ++row) {
    sv::V v[t];
    Tile::Input(columns[row], v);
    MACE_UNROLL for (int col = 0; col < t; ++col) {
      pv::Store(At(to[row], points[col]), v[col]);
    }
    to[row] = sv::Advance(to[row], sv::kLanes);
  }
}

template <typename Tile, Rows kRows>
void Input(const InputArgs &args) {
  constexpr int t = Tile::kPoints;
  constexpr int kBegin = RowBegin(t, kRows);
  const InputArgs x = args;  // a store cannot change the copy
  ptrdiff_t points[t];
  MakeOffsets<Point>(x.to_stride, points);
  Point *to[t];
  MACE_UNROLL for (int row = kBegin; row < RowEnd(t, kRows); ++row) {
    to[row] = static_cast<Point *>(x.to) +
              static_cast<size_t>((row - kBegin) * t) * x.to_stride;
  }
  size_t c = 0;
  for (; c + sv::kLanes <= x.channels; c += sv::kLanes) {
    TransformChannels<Tile, kRows, true>(x, c, sv::kLanes, points, to);
  }
  if (c < x.channels) {
    TransformChannels<Tile, kRows, false>(
        x, c, static_cast<int>(x.channels - c), points, to);
  }
}

}  // namespace

// Halves are only needed if runs may transform the filter, which is not
// worthwhile with narrow vectors. On NEON they could not be used: the compiler
// fuses other operations in a half than in the whole, which gives other bits.
template <typename Tile>
constexpr Transforms MakeTransforms() {
  Transforms x = {};
  x.filter[kAllRows] = &Filter<Tile, kAllRows>;
  x.input[kAllRows] = &Input<Tile, kAllRows>;
  if constexpr (fv::kLanes >= 8) {
    x.filter[kFirstRows] = &Filter<Tile, kFirstRows>;
    x.filter[kLastRows] = &Filter<Tile, kLastRows>;
    x.input[kFirstRows] = &Input<Tile, kFirstRows>;
    x.input[kLastRows] = &Input<Tile, kLastRows>;
  }
  x.output = &Output<Tile>;
  return x;
}

extern const Kernels kKernels;
const Kernels kKernels = {
    MakeTransforms<Tile2>(),
    MakeTransforms<Tile4>(),
    fv::kLanes,
};

}  // namespace mace::winograd::MACE_ISA
