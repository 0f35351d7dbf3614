// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// 3x3 filters of stride 1 or 2 on ARM. On arm64, with about 32 registers of
// each kind, the filter stays in vector registers for all rows, and the
// distances between pixels in general registers. An output then takes 9
// multiply-adds, 3.75 loads (stride 1) and little else. On Armv7, a row of the
// filter is loaded with each row of the image, and loads advance the pointers
// from pixel to pixel at no cost: 9 multiply-adds, 4.9 loads. Included only by
// dwconv_isa.cc and dwconv_strip.h.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_3X3_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_3X3_H_

#include <cstddef>
#include <utility>

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/simd_element.h"

// Loops over rows, taps and outputs must be unrolled; otherwise the sums do not
// stay in registers.
#define MACE_UNROLL _Pragma("clang loop unroll(full)")

namespace mace::dwconv::MACE_ISA::fixed3x3 {

namespace sv = simd::MACE_ISA::element;
using sv::Element;
using sv::Weight;
using Index = ptrdiff_t;

// Whether the whole filter stays in registers.
inline constexpr bool kKeepsFilter =
    sv::kRegisters >= 32 && sv::kGeneralRegisters > 16;
inline constexpr bool kAvailable = kKeepsFilter || sv::kLoadsStep;

// Adjacent outputs that are computed together, by stride: sums, 9 taps, bias,
// clamp and pixels fit 32 vector registers, and the pixels' offsets fit the
// general registers; or sums, 3 taps and pixels fit 16. Rows are divided
// evenly, so fewer than kMin outputs occur only in shorter rows.
template <int kStride>
inline constexpr int kMaxOutputs = kStride == 1 || !kKeepsFilter ? 8 : 4;
template <int kStride>
inline constexpr int kMinOutputs = kStride == 1 || !kKeepsFilter ? 4 : 2;

// The largest number of rows per call: their pixels, 16 rows of 10, whose cache
// lines the next three vectors of channels share, then stay in L1.
inline constexpr Index kMaxRows = 16;

// Some columns of outputs, for the channels of one vector. Strides are in
// bytes.
struct Columns {
  const char *image;     // pixel of the first tap that is inside the image
  const Weight *filter;  // that tap
  char *out;
  const float *bias;  // null for 0
  Index count;        // rows of outputs
  Index tap;          // elements from tap to tap of the filter
  Index pixel;        // from pixel to pixel, of image and output alike
  Index image_row;    // from an image row to the next
  Index row_step;     // of the image, from an output row to the next
  Index output_row;   // from an output row to the next
  bool clamp;
  float low;
  float high;
  bool left;   // the first output has its first column outside the image,
  bool right;  // the last one its last
};

// Whether there is code for the shape: at most one column is outside the image
// on each side, and output_stride equals the pixel stride of the image.
MACE_SIMD_INLINE bool Fits(const Shape &s, Index output_stride) {
  const Index reach = (s.out_w - 1) * s.stride_w + 3 - s.pad_left;
  const Index least = s.stride_w == 1 ? kMinOutputs<1> : kMinOutputs<2>;
  return kAvailable && output_stride == s.in_c && s.kernel_h == 3 &&
         s.kernel_w == 3 && s.dilation_h == 1 && s.dilation_w == 1 &&
         (s.stride_w == 1 || s.stride_w == 2) && s.pad_left <= 1 &&
         reach <= s.in_w + 1 && s.out_w >= least;
}

MACE_SIMD_INLINE const Element *At(const char *p, Index bytes) {
  return reinterpret_cast<const Element *>(p + bytes);
}

// kNone: all columns are inside the image. kAny: the first column of the first
// output and the last column of the last output may be outside; this costs 6
// instructions per row, while separate code for each case would add 12 KB to
// the library.
enum class Edges { kNone, kAny };

alignas(64) inline constexpr Element kZeroPixel[sv::kLanes] = {};

// kRows kernel rows are inside the image.
template <int kStride, int kRows, int kOutputs, Edges kEdges>
void RunColumns(const Columns &c) {
  constexpr int kPixels = (kOutputs - 1) * kStride + 3;
  // Multiples of the distance between pixels, each in its own register.
  Index offsets[kPixels];
  offsets[0] = 0;
  MACE_UNROLL for (int q = 1; q < kPixels; ++q) {
    offsets[q] = sv::Opaque(q * c.pixel);
  }
  sv::V taps[kRows][3];
  const Weight *filter = c.filter;
  MACE_UNROLL for (int i = 0; i < kRows; ++i) {
    MACE_UNROLL for (int j = 0; j < 3; ++j) {
      taps[i][j] = sv::LoadWeight(filter);
      filter = sv::Advance(filter, static_cast<size_t>(c.tap));
    }
  }
  const char *x[kRows];
  MACE_UNROLL for (int i = 0; i < kRows; ++i) {
    x[i] = c.image + i * c.image_row;
  }
  // The addresses of the first and the last pixel, which may be outside.
  const char *side[2][kRows];
  Index side_step[2];
  if constexpr (kEdges == Edges::kAny) {
    const bool outside[2] = {c.left, c.right};
    MACE_UNROLL for (int e = 0; e < 2; ++e) {
      side_step[e] = sv::Opaque(outside[e] ? 0 : c.row_step);
      const Index offset = e == 0 ? 0 : offsets[kPixels - 1];
      MACE_UNROLL for (int i = 0; i < kRows; ++i) {
        side[e][i] = outside[e] ? reinterpret_cast<const char *>(kZeroPixel)
                                : x[i] + offset;
      }
    }
  }
  const sv::V bias = c.bias == nullptr ? sv::Zero() : sv::LoadF32(c.bias);
  const sv::V low = sv::Set(c.low);
  const sv::V high = sv::Set(c.high);
  char *out = c.out;
  for (Index count = c.count; count > 0; --count) {
    sv::V acc[kOutputs];
    MACE_UNROLL for (int t = 0; t < kOutputs; ++t) acc[t] = bias;
    MACE_UNROLL for (int i = 0; i < kRows; ++i) {
      MACE_UNROLL for (int q = 0; q < kPixels; ++q) {
        const Element *from = At(x[i], offsets[q]);
        if constexpr (kEdges == Edges::kAny) {
          if (q == 0) from = At(side[0][i], 0);
          if (q == kPixels - 1) from = At(side[1][i], 0);
        }
        const sv::V pixel = sv::Load(from);
        // For output t, this pixel is tap q - t * kStride; taps ascend.
        MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
          const int j = q - t * kStride;
          if (j >= 0 && j < 3) acc[t] = sv::Fma(pixel, taps[i][j], acc[t]);
        }
      }
      x[i] = sv::Advance(x[i], static_cast<size_t>(c.row_step));
      if constexpr (kEdges == Edges::kAny) {
        side[0][i] += side_step[0];
        side[1][i] += side_step[1];
      }
    }
    if (c.clamp) {
      MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
        acc[t] = sv::Clamp(acc[t], low, high);
      }
    }
    MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
      sv::Store(const_cast<Element *>(At(out, offsets[t])), acc[t]);
    }
    out += c.output_row;
  }
}

// The same for few registers; `rows` kernel rows are inside the image.
template <int kStride, int kOutputs>
__attribute__((noinline)) void StepColumns(const Columns &columns, int rows) {
  constexpr int kPixels = (kOutputs - 1) * kStride + 3;
  const Columns c = columns;  // a store cannot change the copy
  const sv::V bias = c.bias == nullptr ? sv::Zero() : sv::LoadF32(c.bias);
  const char *image = c.image;
  char *out = c.out;
#pragma clang loop unroll(disable)
  for (Index count = c.count; count > 0; --count) {
    sv::V acc[kOutputs];
    MACE_UNROLL for (int t = 0; t < kOutputs; ++t) acc[t] = bias;
    const char *row = image;
    const Weight *filter = c.filter;
#pragma clang loop unroll(disable)
    for (int i = rows; i > 0; --i) {
      sv::V taps[3];
      MACE_UNROLL for (int j = 0; j < 3; ++j) {
        taps[j] = sv::LoadWeight(filter);
        filter += c.tap;
      }
      const char *x = row;
      MACE_UNROLL for (int q = 0; q < kPixels; ++q) {
        const Element *from = At(x, 0);
        if (q == 0 && c.left) from = kZeroPixel;
        if (q == kPixels - 1 && c.right) from = kZeroPixel;
        const sv::V pixel = sv::Load(from);
        x += c.pixel;
        // For output t, this pixel is tap q - t * kStride; taps ascend.
        MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
          const int j = q - t * kStride;
          if (j >= 0 && j < 3) acc[t] = sv::Fma(pixel, taps[j], acc[t]);
        }
      }
      row += c.image_row;
    }
    if (c.clamp) {
      const sv::V low = sv::Set(c.low);
      const sv::V high = sv::Set(c.high);
      MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
        acc[t] = sv::Clamp(acc[t], low, high);
      }
    }
    char *to = out;
    MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
      sv::Store(const_cast<Element *>(At(to, 0)), acc[t]);
      to += c.pixel;
    }
    image += c.row_step;
    out += c.output_row;
  }
}

template <int kStride, int kRows, int kOutputs>
void StepRows(const Columns &c) {
  StepColumns<kStride, kOutputs>(c, kRows);
}

using Function = void (*)(const Columns &);

template <int kStride, int kRows, int kOutputs, Edges kEdges>
constexpr Function Choose() {
  if constexpr (kKeepsFilter) {
    return &RunColumns<kStride, kRows, kOutputs, kEdges>;
  } else {
    return &StepRows<kStride, kRows, kOutputs>;
  }
}

// The functions for a stride and a number of kernel rows.
struct Table {
  Index stride;
  Index least;  // outputs
  Index most;
  // Indexed by the number of outputs minus the least number, and by whether an
  // edge may be outside.
  Function of[kMaxOutputs<1> - kMinOutputs<1> + 1][2];
};

template <int kStride, int kRows, int... kMore>
constexpr Table MakeTable(std::integer_sequence<int, kMore...>) {
  constexpr int kMin = kMinOutputs<kStride>;
  // Most rows have the whole filter inside the image; only those at the top and
  // the bottom do not.
  constexpr Edges kInner = kRows == 3 ? Edges::kNone : Edges::kAny;
  return {kStride,
          kMin,
          kMaxOutputs<kStride>,
          {{Choose<kStride, kRows, kMin + kMore, kInner>(),
            Choose<kStride, kRows, kMin + kMore, Edges::kAny>()}...}};
}

template <int kStride, int kRows>
inline constexpr Table kTable = MakeTable<kStride, kRows>(
    std::make_integer_sequence<int,
                               kMaxOutputs<kStride> - kMinOutputs<kStride> +
                                   1>());

// All columns of some rows of outputs, for channels [0, channels) from there
// on; the last vector overlaps the one before it instead of being partial.
struct Rows {
  Columns first;  // the first columns of channel 0
  Index out_w;
  Index channels;
  bool left;
  bool right;
};

__attribute__((noinline)) inline void RunRows(const Rows &rows,
                                              const Table &table) {
  const Index parts = (rows.out_w + table.most - 1) / table.most;
  const Index least = rows.out_w / parts;
  const Index longer = rows.out_w % parts;  // this many parts have one more
  Columns c = rows.first;
  for (Index part = 0; part < parts; ++part) {
    const Index outputs = least + (part < longer ? 1 : 0);
    c.left = part == 0 && rows.left;
    c.right = part == parts - 1 && rows.right;
    const int edges = c.left || c.right ? 1 : 0;
    const Function run = table.of[outputs - table.least][edges];
    for (Index channel = 0; channel < rows.channels; channel += sv::kLanes) {
      const Index last = rows.channels - sv::kLanes;
      const Index at = channel < last ? channel : last;
      Columns own = c;
      own.image += at * static_cast<Index>(sizeof(Element));
      own.out += at * static_cast<Index>(sizeof(Element));
      own.filter += at;
      if (own.bias != nullptr) own.bias += at;
      run(own);
    }
    c.image += table.stride * outputs * c.pixel;
    c.out += outputs * c.pixel;
  }
}

// `taps` rows of the kernel are inside the image; returns false if there is no
// code for so few.
MACE_SIMD_INLINE bool Run(const Rows &rows, Index stride, Index taps) {
  if constexpr (kAvailable) {
    if (taps == 3) {
      RunRows(rows, stride == 1 ? kTable<1, 3> : kTable<2, 3>);
      return true;
    }
    if (taps == 2) {
      RunRows(rows, stride == 1 ? kTable<1, 2> : kTable<2, 2>);
      return true;
    }
  }
  return false;
}

}  // namespace mace::dwconv::MACE_ISA::fixed3x3

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_3X3_H_
