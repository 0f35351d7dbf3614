// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// From points to outputs: both transforms, bias, residual and clamp. Included
// only by winograd_isa.cc.

#ifndef MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_OUTPUT_H_
#define MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_OUTPUT_H_

#include <cstddef>

#include "mace/kernels/cpu/simd_element.h"
#include "mace/kernels/cpu/winograd/winograd.h"
#include "mace/kernels/cpu/winograd/winograd_tile.h"

namespace mace::winograd::MACE_ISA {

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

// Computes whole vectors of columns and returns the number of columns. For ISAs
// with enough registers for a pointer to every row of points and pixels, so
// that the loop computes no addresses. kWhole: all pixels of the tile are
// inside the output.
template <typename Tile, bool kWhole>
static size_t OutputVectors(const OutputArgs &args) {
  const OutputArgs x = args;  // a store cannot change the copy
  constexpr int t = Tile::kPoints;
  constexpr int m = Tile::kOutputs;
  ptrdiff_t points[t];
  ptrdiff_t pixels[m];
  MakeOffsets<Point>(x.from_stride, points);
  MakeOffsets<Element>(x.pixel_stride, pixels);
  const Point *from[t];
  Element *to[m];
  MACE_UNROLL for (int row = 0; row < t; ++row) {
    from[row] = static_cast<const Point *>(x.from) +
                static_cast<size_t>(row * t) * x.from_stride;
  }
  MACE_UNROLL for (int row = 0; row < m; ++row) {
    to[row] =
        static_cast<Element *>(x.to) + static_cast<size_t>(row) * x.row_stride;
  }
  const sv::V low = sv::Set(x.low);
  const sv::V high = sv::Set(x.high);
  const bool bounded = x.high < __builtin_inff();  // not a plain ReLU
  size_t c = 0;
  for (; c + sv::kLanes <= x.columns; c += sv::kLanes) {
    sv::V columns[m][t];
    MACE_UNROLL for (int col = 0; col < t; ++col) {
      sv::V products[t];
      MACE_UNROLL for (int row = 0; row < t; ++row) {
        products[row] = pv::Load(At(from[row], points[col]));
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
        sv::Store(At(to[row], pixels[col]), y[col]);
      }
      to[row] = sv::Advance(to[row], sv::kLanes);
    }
  }
  return c;
}

// The same for ISAs with few registers whose loads accept any offset.
// Intermediate values are kept in memory between the two transforms: one store
// and one load, instead of the two instructions each with which the compiler
// would spill them.
template <typename Tile, bool kWhole>
static size_t StepOutputVectors(const OutputArgs &args) {
  const OutputArgs x = args;  // a store cannot change the copy
  constexpr int t = Tile::kPoints;
  constexpr int m = Tile::kOutputs;
  alignas(16) Point kept[t * m * sv::kLanes];
  const size_t points = t * x.from_stride;  // from a row of points to the next
  const bool bounded = x.high < __builtin_inff();  // not a plain ReLU
  size_t c = 0;
  for (; c + sv::kLanes <= x.columns; c += sv::kLanes) {
    const Point *point = static_cast<const Point *>(x.from) + c;
    Point *keep = fv::Hidden(kept);
    MACE_UNROLL for (int col = 0; col < t; ++col) {
      sv::V products[t];
      const Point *p = point;
      MACE_UNROLL for (int row = 0; row < t; ++row) {
        products[row] = pv::Load(p);
        p += points;
      }
      sv::V y[m];
      Tile::Output(products, y);
      MACE_UNROLL for (int row = 0; row < m; ++row) {
        pv::Store(keep, y[row]);
        keep += sv::kLanes;
      }
      point += x.from_stride;
    }
    const sv::V bias = x.bias == nullptr ? sv::Zero() : sv::LoadF32(x.bias + c);
    const Point *kept_row = fv::Hidden(kept);
    Element *to_row = static_cast<Element *>(x.to) + c;
    const Element *residual_row = static_cast<const Element *>(x.residual);
    if (residual_row != nullptr) residual_row += c;
    MACE_UNROLL for (int row = 0; row < m; ++row) {
      if (!kWhole && row >= x.rows) continue;
      sv::V columns[t];
      const Point *p = kept_row;
      MACE_UNROLL for (int col = 0; col < t; ++col) {
        columns[col] = pv::Load(p);
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
static void Output(const OutputArgs &x) {
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
            pv::Load(static_cast<const Point *>(x.from) +
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

}  // namespace mace::winograd::MACE_ISA

#endif  // MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_OUTPUT_H_
