// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The transforms: a one-dimensional one, applied to columns, then to rows.

#include <cstdint>

#include "mace/kernels/cpu/simd_element.h"
#include "mace/kernels/cpu/winograd/winograd.h"

namespace mace::winograd::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA::element;
namespace fv = simd::MACE_ISA;  // of float: for filters
using sv::Element;

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

constexpr size_t kPanel = gemm::kPanelColumns;

// m = 2: points 0, 1, -1, infinity.
struct Tile2 {
  static constexpr int kOutputs = 2;
  static constexpr int kPoints = 4;

  MACE_SIMD_INLINE void Input(const sv::V (&d)[4], sv::V (&v)[4]) {
    v[0] = d[0] - d[2];
    v[1] = d[1] + d[2];
    v[2] = d[2] - d[1];
    v[3] = d[1] - d[3];
  }
  MACE_SIMD_INLINE void Filter(const fv::V (&g)[3], fv::V (&u)[4]) {
    const fv::V even = (g[0] + g[2]) * 0.5f;
    const fv::V odd = g[1] * 0.5f;
    u[0] = g[0];
    u[1] = even + odd;
    u[2] = even - odd;
    u[3] = g[2];
  }
  MACE_SIMD_INLINE void Output(const sv::V (&m)[4], sv::V (&y)[2]) {
    y[0] = m[0] + (m[1] + m[2]);
    y[1] = (m[1] - m[2]) - m[3];
  }
};

// m = 4: points 0, a, -a, b, -b, infinity. With M(x) = x (x^2 - a^2)(x^2 - b^2)
// the rows of B' are the coefficients of M(x) / (x - p), and of M(x) itself for
// infinity; those of G are 1, p, p^2 over M'(p); columns of A' are the powers
// of p. Rows of a pair +-p differ by the sign of their odd part alone.
struct Tile4 {
  static constexpr int kOutputs = 4;
  static constexpr int kPoints = 6;
  static constexpr float kA = 0.75f;
  static constexpr float kB = 1.5f;
  static constexpr float kA2 = kA * kA;
  static constexpr float kB2 = kB * kB;

  MACE_SIMD_INLINE void Input(const sv::V (&d)[6], sv::V (&v)[6]) {
    constexpr float kSum = kA2 + kB2;
    constexpr float kProduct = kA2 * kB2;
    v[0] = (d[4] - d[2] * sv::Set(kSum)) + d[0] * sv::Set(kProduct);
    v[5] = (d[5] - d[3] * sv::Set(kSum)) + d[1] * sv::Set(kProduct);
    const sv::V even_a = d[4] - d[2] * sv::Set(kB2);
    const sv::V odd_a = d[3] - d[1] * sv::Set(kB2);
    v[1] = even_a + odd_a * sv::Set(kA);
    v[2] = even_a - odd_a * sv::Set(kA);
    const sv::V even_b = d[4] - d[2] * sv::Set(kA2);
    const sv::V odd_b = d[3] - d[1] * sv::Set(kA2);
    v[3] = even_b + odd_b * sv::Set(kB);
    v[4] = even_b - odd_b * sv::Set(kB);
  }
  MACE_SIMD_INLINE void Filter(const fv::V (&g)[3], fv::V (&u)[6]) {
    constexpr float kSlope0 = 1.0f / (kA2 * kB2);
    constexpr float kSlopeA = 1.0f / (2.0f * kA2 * (kA2 - kB2));
    constexpr float kSlopeB = 1.0f / (2.0f * kB2 * (kB2 - kA2));
    u[0] = g[0] * kSlope0;
    const fv::V even_a = g[0] * kSlopeA + g[2] * (kA2 * kSlopeA);
    const fv::V odd_a = g[1] * (kA * kSlopeA);
    u[1] = even_a + odd_a;
    u[2] = even_a - odd_a;
    const fv::V even_b = g[0] * kSlopeB + g[2] * (kB2 * kSlopeB);
    const fv::V odd_b = g[1] * (kB * kSlopeB);
    u[3] = even_b + odd_b;
    u[4] = even_b - odd_b;
    u[5] = g[2];
  }
  MACE_SIMD_INLINE void Output(const sv::V (&m)[6], sv::V (&y)[4]) {
    const sv::V even_a = m[1] + m[2];
    const sv::V odd_a = m[1] - m[2];
    const sv::V even_b = m[3] + m[4];
    const sv::V odd_b = m[3] - m[4];
    y[0] = m[0] + (even_a + even_b);
    y[1] = odd_a * sv::Set(kA) + odd_b * sv::Set(kB);
    y[2] = even_a * sv::Set(kA2) + even_b * sv::Set(kB2);
    y[3] = (odd_a * sv::Set(kA * kA2) + odd_b * sv::Set(kB * kB2)) + m[5];
  }
};

// ---- addresses -------------------------------------------------------------

MACE_SIMD_INLINE const Element *At(const Element *p, ptrdiff_t bytes) {
  return reinterpret_cast<const Element *>(reinterpret_cast<const char *>(p) +
                                           bytes);
}

// Multiples of a distance in bytes, each in a register of its own.
template <int kCount>
MACE_SIMD_INLINE void MakeOffsets(size_t elements, ptrdiff_t (&to)[kCount]) {
  MACE_UNROLL for (int i = 0; i < kCount; ++i) {
    to[i] = sv::Opaque(i * static_cast<ptrdiff_t>(elements * sizeof(Element)));
  }
}

// ---- filter ----------------------------------------------------------------

// A panel of weights of any type.
struct FilterPanel {
  gemm::WeightType type;
  const char *weights;
  const float *scales;  // of kI8, and then the offsets
};

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

// Floats of each tap that are widened before they are transformed. One
// transform for all types: unrolled for each it would be 5 KB more.
constexpr size_t kRun = 128;

// Weights [begin, begin + count) of every tap, to [9][kRun].
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

// `count` weights of every tap, a vector at a time.
template <typename Tile>
void FilterRun(const float *from,
               size_t tap_stride,
               size_t count,
               Element *out,
               size_t to_stride) {
  constexpr int t = Tile::kPoints;
  ptrdiff_t points[t];
  MakeOffsets(to_stride, points);
  Element *to[t];
  MACE_UNROLL for (int row = 0; row < t; ++row) {
    to[row] = out + static_cast<size_t>(row * t) * to_stride;
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
    MACE_UNROLL for (int row = 0; row < t; ++row) {
      fv::V u[t];
      Tile::Filter(columns[row], u);
      MACE_UNROLL for (int col = 0; col < t; ++col) {
        sv::StoreRounded(const_cast<Element *>(At(to[row], points[col])),
                         u[col]);
      }
      to[row] = sv::Advance(to[row], fv::kLanes);
    }
  }
}

template <typename Tile>
void Filter(const FilterArgs &args) {
  const FilterArgs x = args;  // a store cannot change the copy
  const size_t tap_stride = x.channels * kPanel;
  Element *to = static_cast<Element *>(x.to);
  for (size_t panel = x.panel_begin; panel < x.panel_end; ++panel) {
    const FilterPanel from = PanelOf(x, panel);
    if (x.type == gemm::WeightType::kF32) {
      FilterRun<Tile>(reinterpret_cast<const float *>(from.weights), tap_stride,
                      tap_stride, to, x.to_stride);
    } else {
      alignas(64) float widened[9 * kRun];
      for (size_t begin = 0; begin < tap_stride; begin += kRun) {
        const size_t left = tap_stride - begin;
        const size_t count = left < kRun ? left : kRun;
        WidenRun(from, tap_stride, begin, count, widened);
        FilterRun<Tile>(widened, kRun, count, to + begin, x.to_stride);
      }
    }
    to += tap_stride;
  }
}

// ---- input -----------------------------------------------------------------

// Channels [c, c + kLanes), of which `count` exist.
template <typename Tile, bool kWhole>
MACE_SIMD_INLINE void TransformChannels(
    const InputArgs &x,
    size_t c,
    int count,
    const ptrdiff_t (&points)[Tile::kPoints],
    Element *(&to)[Tile::kPoints]) {
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
  MACE_UNROLL for (int row = 0; row < t; ++row) {
    sv::V v[t];
    Tile::Input(columns[row], v);
    MACE_UNROLL for (int col = 0; col < t; ++col) {
      sv::Store(const_cast<Element *>(At(to[row], points[col])), v[col]);
    }
    to[row] = sv::Advance(to[row], sv::kLanes);
  }
}

template <typename Tile>
void Input(const InputArgs &args) {
  constexpr int t = Tile::kPoints;
  const InputArgs x = args;  // a store cannot change the copy
  ptrdiff_t points[t];
  MakeOffsets(x.to_stride, points);
  Element *to[t];
  MACE_UNROLL for (int row = 0; row < t; ++row) {
    to[row] = static_cast<Element *>(x.to) +
              static_cast<size_t>(row * t) * x.to_stride;
  }
  size_t c = 0;
  for (; c + sv::kLanes <= x.channels; c += sv::kLanes) {
    TransformChannels<Tile, true>(x, c, sv::kLanes, points, to);
  }
  if (c < x.channels) {
    TransformChannels<Tile, false>(x, c, static_cast<int>(x.channels - c),
                                   points, to);
  }
}

// ---- output ----------------------------------------------------------------

MACE_SIMD_INLINE sv::V LoadSome(const Element *p, int count) {
  return count == sv::kLanes ? sv::Load(p) : sv::LoadN(p, count);
}

MACE_SIMD_INLINE void FinishPixel(
    const OutputArgs &x, int row, int col, size_t c, int count, sv::V y) {
  const size_t i = static_cast<size_t>(row);
  const size_t j = static_cast<size_t>(col);
  if (x.residual != nullptr) {
    y += LoadSome(static_cast<const Element *>(x.residual) +
                      i * x.residual_row_stride + j * x.residual_pixel_stride +
                      c,
                  count);
  }
  if (x.clamp) y = sv::Clamp(y, sv::Set(x.low), sv::Set(x.high));
  Element *to =
      static_cast<Element *>(x.to) + i * x.row_stride + j * x.pixel_stride + c;
  if (count == sv::kLanes) {
    sv::Store(to, y);
  } else {
    sv::StoreN(to, y, count);
  }
}

// Whole vectors of columns: how many columns that were. For ISAs that can hold
// a pointer to every row of points and of pixels: no address is computed inside
// the loop. kWhole: all pixels of the tile lie in the output.
template <typename Tile, bool kWhole>
size_t OutputVectors(const OutputArgs &args) {
  const OutputArgs x = args;  // a store cannot change the copy
  constexpr int t = Tile::kPoints;
  constexpr int m = Tile::kOutputs;
  ptrdiff_t points[t];
  ptrdiff_t pixels[m];
  MakeOffsets(x.from_stride, points);
  MakeOffsets(x.pixel_stride, pixels);
  const Element *from[t];
  Element *to[m];
  MACE_UNROLL for (int row = 0; row < t; ++row) {
    from[row] = static_cast<const Element *>(x.from) +
                static_cast<size_t>(row * t) * x.from_stride;
  }
  MACE_UNROLL for (int row = 0; row < m; ++row) {
    to[row] =
        static_cast<Element *>(x.to) + static_cast<size_t>(row) * x.row_stride;
  }
  const sv::V low = sv::Set(x.low);
  const sv::V high = sv::Set(x.high);
  const bool bounded = x.high < __builtin_inff();  // no plain rectifier
  size_t c = 0;
  for (; c + sv::kLanes <= x.columns; c += sv::kLanes) {
    sv::V columns[m][t];
    MACE_UNROLL for (int col = 0; col < t; ++col) {
      sv::V products[t];
      MACE_UNROLL for (int row = 0; row < t; ++row) {
        products[row] = sv::Load(At(from[row], points[col]));
      }
      sv::V y[m];
      Tile::Output(products, y);
      MACE_UNROLL for (int row = 0; row < m; ++row) columns[row][col] = y[row];
    }
    MACE_UNROLL for (int row = 0; row < t; ++row) {
      from[row] = sv::Advance(from[row], sv::kLanes);
    }
    const sv::V bias = x.bias == nullptr ? sv::Zero() : sv::LoadF32(x.bias + c);
    MACE_UNROLL for (int row = 0; row < m; ++row) {
      if (!kWhole && row >= x.rows) continue;
      sv::V y[m];
      Tile::Output(columns[row], y);
      const Element *residual = static_cast<const Element *>(x.residual);
      if (residual != nullptr) {
        residual += static_cast<size_t>(row) * x.residual_row_stride + c;
      }
      MACE_UNROLL for (int col = 0; col < m; ++col) {
        y[col] += bias;
        if (residual != nullptr && (kWhole || col < x.cols)) {
          y[col] += sv::Load(residual);
          residual += x.residual_pixel_stride;
        }
      }
      if (x.clamp) {
        MACE_UNROLL for (int col = 0; col < m; ++col) {
          y[col] = sv::Max(y[col], low);
        }
        if (bounded) {
          MACE_UNROLL for (int col = 0; col < m; ++col) {
            y[col] = sv::Min(y[col], high);
          }
        }
      }
      MACE_UNROLL for (int col = 0; col < m; ++col) {
        if (!kWhole && col >= x.cols) continue;
        sv::Store(const_cast<Element *>(At(to[row], pixels[col])), y[col]);
      }
      to[row] = sv::Advance(to[row], sv::kLanes);
    }
  }
  return c;
}

// The same where registers are few but loads step by any distance. Between the
// two transforms all rests in memory: a store and a load, where the compiler
// would spill it by two instructions each.
template <typename Tile, bool kWhole>
size_t StepOutputVectors(const OutputArgs &args) {
  const OutputArgs x = args;  // a store cannot change the copy
  constexpr int t = Tile::kPoints;
  constexpr int m = Tile::kOutputs;
  alignas(16) Element kept[t * m * sv::kLanes];
  const size_t points = t * x.from_stride;  // from a row of points to the next
  const bool bounded = x.high < __builtin_inff();  // no plain rectifier
  size_t c = 0;
  for (; c + sv::kLanes <= x.columns; c += sv::kLanes) {
    const Element *point = static_cast<const Element *>(x.from) + c;
    Element *keep = fv::Hidden(kept);
    MACE_UNROLL for (int col = 0; col < t; ++col) {
      sv::V products[t];
      const Element *p = point;
      MACE_UNROLL for (int row = 0; row < t; ++row) {
        products[row] = sv::Load(p);
        p += points;
      }
      sv::V y[m];
      Tile::Output(products, y);
      MACE_UNROLL for (int row = 0; row < m; ++row) {
        sv::Store(keep, y[row]);
        keep += sv::kLanes;
      }
      point += x.from_stride;
    }
    const sv::V bias = x.bias == nullptr ? sv::Zero() : sv::LoadF32(x.bias + c);
    const Element *kept_row = fv::Hidden(kept);
    Element *to_row = static_cast<Element *>(x.to) + c;
    const Element *residual_row = static_cast<const Element *>(x.residual);
    if (residual_row != nullptr) residual_row += c;
    MACE_UNROLL for (int row = 0; row < m; ++row) {
      if (!kWhole && row >= x.rows) continue;
      sv::V columns[t];
      const Element *p = kept_row;
      MACE_UNROLL for (int col = 0; col < t; ++col) {
        columns[col] = sv::Load(p);
        p += m * sv::kLanes;
      }
      kept_row += sv::kLanes;
      sv::V y[m];
      Tile::Output(columns, y);
      MACE_UNROLL for (int col = 0; col < m; ++col) y[col] += bias;
      if (residual_row != nullptr) {
        const Element *residual = residual_row;
        MACE_UNROLL for (int col = 0; col < m; ++col) {
          if (kWhole || col < x.cols) y[col] += sv::Load(residual);
          residual += x.residual_pixel_stride;
        }
        residual_row += x.residual_row_stride;
      }
      if (x.clamp) {
        const sv::V low = sv::Set(x.low);
        MACE_UNROLL for (int col = 0; col < m; ++col) {
          y[col] = sv::Max(y[col], low);
        }
        if (bounded) {
          const sv::V high = sv::Set(x.high);
          MACE_UNROLL for (int col = 0; col < m; ++col) {
            y[col] = sv::Min(y[col], high);
          }
        }
      }
      Element *to = to_row;
      MACE_UNROLL for (int col = 0; col < m; ++col) {
        if (kWhole || col < x.cols) sv::Store(to, y[col]);
        to += x.pixel_stride;
      }
      to_row += x.row_stride;
    }
  }
  return c;
}

template <typename Tile>
void Output(const OutputArgs &x) {
  constexpr int t = Tile::kPoints;
  constexpr int m = Tile::kOutputs;
  size_t c = 0;
  if constexpr (sv::kGeneralRegisters > 16) {
    c = x.rows == m && x.cols == m ? OutputVectors<Tile, true>(x)
                                   : OutputVectors<Tile, false>(x);
  } else if constexpr (fv::kLoadsStep) {
    c = x.rows == m && x.cols == m ? StepOutputVectors<Tile, true>(x)
                                   : StepOutputVectors<Tile, false>(x);
  }
  for (; c < x.columns; c += sv::kLanes) {
    const size_t left = x.columns - c;
    const int count = left < sv::kLanes ? static_cast<int>(left) : sv::kLanes;
    sv::V columns[m][t];
    MACE_UNROLL for (int col = 0; col < t; ++col) {
      sv::V products[t];
      MACE_UNROLL for (int row = 0; row < t; ++row) {
        products[row] =
            sv::Load(static_cast<const Element *>(x.from) +
                     static_cast<size_t>(row * t + col) * x.from_stride + c);
      }
      sv::V y[m];
      Tile::Output(products, y);
      MACE_UNROLL for (int row = 0; row < m; ++row) columns[row][col] = y[row];
    }
    const sv::V bias =
        x.bias == nullptr ? sv::Zero() : sv::LoadF32N(x.bias + c, count);
    MACE_UNROLL for (int row = 0; row < m; ++row) {
      if (row < x.rows) {
        sv::V y[m];
        Tile::Output(columns[row], y);
        MACE_UNROLL for (int col = 0; col < m; ++col) {
          if (col < x.cols) {
            FinishPixel(x, row, col, c, count, y[col] + bias);
          }
        }
      }
    }
  }
}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {
    {&Filter<Tile2>, &Input<Tile2>, &Output<Tile2>},
    {&Filter<Tile4>, &Input<Tile4>, &Output<Tile4>},
    fv::kLanes,
};

}  // namespace mace::winograd::MACE_ISA
