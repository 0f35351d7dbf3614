// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// 3x3 kernels of stride 1 and 2 that move down a band of rows: every row of the
// image is loaded once and added to all output rows that need it. Their sums
// stay in registers until their last input row has been added. What is added is
// a parameter: a channel of its own for each output (dwconv_slide.h), or all
// channels of the output's group (bf16_groups_isa.cc).

#ifndef MACE_KERNELS_CPU_DWCONV_SLIDE_WALK_H_
#define MACE_KERNELS_CPU_DWCONV_SLIDE_WALK_H_

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/simd_element.h"

namespace mace::dwconv::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA::element;
using sv::Element;
using sv::Weight;
using Index = ptrdiff_t;

// Every loop over outputs, pixels and taps must be unrolled.
#define MACE_UNROLL _Pragma("clang loop unroll(full)")

// AVX-512: 21 sums, 9 taps and a pixel, or 21 sums, 9 pixels and a tap, fit 32
// registers; and the sides of common images (224 / 2^n) are multiples of 7.
// AVX2: 9 sums and a pixel fit 16 registers; most taps are then operands in
// memory. 2 and 4 take about as long.
constexpr int kSlideWidth = sv::kLanes >= 16 ? 7 : 3;
// Rows of outputs per pass: at most 2 of 10 image rows are loaded twice, and
// the band stays in L2 for all channels.
constexpr Index kSlideRows = 8;
// Not measured on ARM, which has its own code (dwconv_3x3.h). With SSE4.1,
// MobileNets take 0.98 to 1.03 times as long, and the code is 6 KB.
#if defined(__AVX2__)
constexpr bool kCanSlide = true;
#else
constexpr bool kCanSlide = false;
#endif
// With stride 2, most pixels of a band are used by one row of outputs. On
// Sapphire Rapids, the row-wise kernel then takes 0.8 to 1.0 times as long with
// AVX2, whose bands are narrow.
constexpr bool kSlidesByTwo = sv::kLanes >= 16;

// A vector of outputs in a band of rows, and some of its columns.
struct Slide {
  const Element *row;  // first image row under the band, first column under
                       // the block; may lie outside
  Index first;         // of that row in the image
  Index image_rows;    // of the image
  Index rows;          // outputs
  Index pixel;         // elements from pixel to pixel of the image,
  Index image_row;     // from row to row,
  Index output;        // from pixel to pixel of the output,
  Index output_row;    // and from row to row
  bool left_inside;    // whether the first and the last column under the block
  bool right_inside;   // lie inside the image
  Element *out;
  const Weight *bias;  // [kLanes]
  bool clamp;
  const Weight *low;  // [kLanes]
  const Weight *high;
};

// Whether a walk supports the geometry: at most one column outside the image on
// each side.
MACE_SIMD_INLINE bool Walks(const Shape &s) {
  const Index right = (s.out_w - 1) * s.stride_w + 3 - s.pad_left - s.in_w;
  return kCanSlide && s.kernel_h == 3 && s.kernel_w == 3 && s.dilation_h == 1 &&
         s.dilation_w == 1 && s.stride_h == s.stride_w &&
         (s.stride_w == 1 || (kSlidesByTwo && s.stride_w == 2)) &&
         s.pad_left <= 1 && right <= 1;
}

// Iterates over the image rows under the band.
struct Walk {
  const Element *row;
  Index index;  // in the image
  Index step;
  Index end;

  MACE_SIMD_INLINE bool Inside(const Walk &w) {
    return w.index >= 0 && w.index < w.end;
  }
  MACE_SIMD_INLINE void Next(Walk *w) {
    w->row += w->step;
    ++w->index;
  }
};

// Adds one image row: tap row t to the outputs acc[t] if bit t of kTapRows is
// set. Outputs that begin with this row start from the bias. Taps::Add
// multiplies.
template <int kStride, int kOutputs, int kTapRows, typename Taps>
MACE_SIMD_INLINE void SlideRow(const Slide &s,
                               const Taps &taps,
                               const Walk &w,
                               sv::V (&acc)[3][kOutputs]) {
  if constexpr ((kTapRows & 1) != 0) {
    MACE_UNROLL for (int t = 0; t < kOutputs; ++t) acc[0][t] =
        sv::LoadWeight(s.bias);
  }
  if (!Walk::Inside(w)) return;
  Taps::template Add<kStride, kOutputs, kTapRows>(s, taps, w.row, acc);
}

template <int kOutputs>
MACE_SIMD_INLINE void SlideStore(const Slide &s,
                                 Index row,
                                 const sv::V (&acc)[kOutputs]) {
  Element *out = s.out + row * s.output_row;
  MACE_UNROLL for (int t = 0; t < kOutputs; ++t, out += s.output) {
    sv::V x = acc[t];
    if (s.clamp)
      x = sv::Clamp(x, sv::LoadWeight(s.low), sv::LoadWeight(s.high));
    sv::Store(out, x);
  }
}

// The next output row begins: tap row i becomes i + 1.
template <int kOutputs>
MACE_SIMD_INLINE void SlideDown(sv::V (&acc)[3][kOutputs]) {
  MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
    acc[2][t] = acc[1][t];
    acc[1][t] = acc[0][t];
  }
}

template <int kOutputs, typename Taps>
MACE_SIMD_INLINE void SlideOne(const Slide &s, const Taps &taps) {
  sv::V acc[3][kOutputs];
  Walk w = {s.row, s.first, s.image_row, s.image_rows};
  SlideRow<1, kOutputs, 1>(s, taps, w, acc);
  SlideDown(acc);
  Walk::Next(&w);
  if (s.rows == 1) {
    SlideRow<1, kOutputs, 2>(s, taps, w, acc);
    SlideDown(acc);
    Walk::Next(&w);
    SlideRow<1, kOutputs, 4>(s, taps, w, acc);
    SlideStore<kOutputs>(s, 0, acc[2]);
    return;
  }
  SlideRow<1, kOutputs, 3>(s, taps, w, acc);
  SlideDown(acc);
  Walk::Next(&w);
  for (Index r = 2; r < s.rows; ++r) {
    SlideRow<1, kOutputs, 7>(s, taps, w, acc);
    SlideStore<kOutputs>(s, r - 2, acc[2]);
    SlideDown(acc);
    Walk::Next(&w);
  }
  SlideRow<1, kOutputs, 6>(s, taps, w, acc);
  SlideStore<kOutputs>(s, s.rows - 2, acc[2]);
  SlideDown(acc);
  Walk::Next(&w);
  SlideRow<1, kOutputs, 4>(s, taps, w, acc);
  SlideStore<kOutputs>(s, s.rows - 1, acc[2]);
}

// Two image rows per output row; the last row is the first of the next output.
template <int kOutputs, typename Taps>
MACE_SIMD_INLINE void SlideTwo(const Slide &s, const Taps &taps) {
  sv::V acc[3][kOutputs];
  Walk w = {s.row, s.first, s.image_row, s.image_rows};
  SlideRow<2, kOutputs, 1>(s, taps, w, acc);
  for (Index r = 0;; ++r) {
    Walk::Next(&w);
    SlideDown(acc);
    SlideRow<2, kOutputs, 2>(s, taps, w, acc);
    Walk::Next(&w);
    SlideDown(acc);
    if (r == s.rows - 1) {
      SlideRow<2, kOutputs, 4>(s, taps, w, acc);
      SlideStore<kOutputs>(s, r, acc[2]);
      return;
    }
    SlideRow<2, kOutputs, 5>(s, taps, w, acc);
    SlideStore<kOutputs>(s, r, acc[2]);
  }
}

}  // namespace
}  // namespace mace::dwconv::MACE_ISA

#endif  // MACE_KERNELS_CPU_DWCONV_SLIDE_WALK_H_
