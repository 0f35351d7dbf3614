// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// 3x3 kernels of stride 1 and 2 that move down a band of rows: every row of the
// image is loaded once and added to all output rows that need it. Their sums
// stay in registers until their last input row has been added. Included only by
// dwconv_isa.cc.
//
// The distance between adjacent columns is the number of channels. With 512
// channels, the columns use only two sets of a 64-set L1 cache, so a row that
// is loaded again for the next output row comes from L2: three such loads per
// output limit the row-wise kernel; here 1.6 remain. On Zen 5, layers of
// MobileNet v1 and v2 take 0.5 to 0.75 times as long.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_SLIDE_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_SLIDE_H_

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

// 21 sums, 9 taps and a pixel fit 32 registers; and the sides of common images
// (224 / 2^n) are multiples of 7.
constexpr int kSlideWidth = 7;
// Rows of outputs per pass: at most 2 of 10 image rows are loaded twice, and
// the band stays in L2 for all channels.
constexpr Index kSlideRows = 8;
// Of the instruction sets with enough registers, only AVX-512 was measured.
constexpr bool kCanSlide = sv::kLanes >= 16;

// A vector of channels in a band of rows, and some of its columns.
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
  const Weight *taps;  // [9][kLanes]
  const Weight *bias;  // [kLanes]
  bool clamp;
  const Weight *low;  // [kLanes]
  const Weight *high;
};

alignas(64) constexpr Element kZeroPixel[sv::kLanes] = {};

// Adds one image row: tap row t to the outputs acc[t] if bit t of kTapRows is
// set. Outputs that begin with this row start from the bias.
template <int kStride, int kOutputs, int kTapRows>
MACE_SIMD_INLINE void SlideRow(const Slide &s,
                               const sv::V (&taps)[9],
                               const Element *row,
                               bool inside,
                               sv::V (&acc)[3][kOutputs]) {
  if constexpr ((kTapRows & 1) != 0) {
    MACE_UNROLL for (int t = 0; t < kOutputs; ++t) acc[0][t] =
        sv::LoadWeight(s.bias);
  }
  if (!inside) return;
  constexpr int kPixels = (kOutputs - 1) * kStride + 3;
  const Element *left = s.left_inside ? row : kZeroPixel;
  const Element *right =
      s.right_inside ? row + (kPixels - 1) * s.pixel : kZeroPixel;
  MACE_UNROLL for (int q = 0; q < kPixels; ++q) {
    const sv::V pixel = sv::Load(q == 0             ? left
                                 : q == kPixels - 1 ? right
                                                    : row + q * s.pixel);
    // From the first output on, so that each output adds its taps in ascending
    // order.
    MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
      const int j = q - t * kStride;
      if (j >= 0 && j < 3) {
        MACE_UNROLL for (int i = 0; i < 3; ++i) {
          if ((kTapRows >> i & 1) != 0) {
            acc[i][t] = sv::Fma(pixel, taps[i * 3 + j], acc[i][t]);
          }
        }
      }
    }
  }
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

template <int kOutputs>
MACE_SIMD_INLINE void SlideOne(const Slide &s, const sv::V (&taps)[9]) {
  sv::V acc[3][kOutputs];
  Walk w = {s.row, s.first, s.image_row, s.image_rows};
  SlideRow<1, kOutputs, 1>(s, taps, w.row, Walk::Inside(w), acc);
  SlideDown(acc);
  Walk::Next(&w);
  if (s.rows == 1) {
    SlideRow<1, kOutputs, 2>(s, taps, w.row, Walk::Inside(w), acc);
    SlideDown(acc);
    Walk::Next(&w);
    SlideRow<1, kOutputs, 4>(s, taps, w.row, Walk::Inside(w), acc);
    SlideStore<kOutputs>(s, 0, acc[2]);
    return;
  }
  SlideRow<1, kOutputs, 3>(s, taps, w.row, Walk::Inside(w), acc);
  SlideDown(acc);
  Walk::Next(&w);
  for (Index r = 2; r < s.rows; ++r) {
    SlideRow<1, kOutputs, 7>(s, taps, w.row, Walk::Inside(w), acc);
    SlideStore<kOutputs>(s, r - 2, acc[2]);
    SlideDown(acc);
    Walk::Next(&w);
  }
  SlideRow<1, kOutputs, 6>(s, taps, w.row, Walk::Inside(w), acc);
  SlideStore<kOutputs>(s, s.rows - 2, acc[2]);
  SlideDown(acc);
  Walk::Next(&w);
  SlideRow<1, kOutputs, 4>(s, taps, w.row, Walk::Inside(w), acc);
  SlideStore<kOutputs>(s, s.rows - 1, acc[2]);
}

// Two image rows per output row; the last row is the first of the next output.
template <int kOutputs>
MACE_SIMD_INLINE void SlideTwo(const Slide &s, const sv::V (&taps)[9]) {
  sv::V acc[3][kOutputs];
  Walk w = {s.row, s.first, s.image_row, s.image_rows};
  SlideRow<2, kOutputs, 1>(s, taps, w.row, Walk::Inside(w), acc);
  for (Index r = 0;; ++r) {
    Walk::Next(&w);
    SlideDown(acc);
    SlideRow<2, kOutputs, 2>(s, taps, w.row, Walk::Inside(w), acc);
    Walk::Next(&w);
    SlideDown(acc);
    if (r == s.rows - 1) {
      SlideRow<2, kOutputs, 4>(s, taps, w.row, Walk::Inside(w), acc);
      SlideStore<kOutputs>(s, r, acc[2]);
      return;
    }
    SlideRow<2, kOutputs, 5>(s, taps, w.row, Walk::Inside(w), acc);
    SlideStore<kOutputs>(s, r, acc[2]);
  }
}

template <int kStride, int kOutputs>
void SlideBlock(const Slide &s) {
  sv::V taps[9];
  MACE_UNROLL for (int i = 0; i < 9; ++i) {
    taps[i] = sv::LoadWeight(s.taps + i * sv::kLanes);
  }
  if constexpr (kStride == 1) {
    SlideOne<kOutputs>(s, taps);
  } else {
    SlideTwo<kOutputs>(s, taps);
  }
}

using SlideFunction = void (*)(const Slide &);
template <int kStride>
constexpr SlideFunction kSlides[kSlideWidth] = {
    &SlideBlock<kStride, 1>, &SlideBlock<kStride, 2>, &SlideBlock<kStride, 3>,
    &SlideBlock<kStride, 4>, &SlideBlock<kStride, 5>, &SlideBlock<kStride, 6>,
    &SlideBlock<kStride, 7>};

// Whether RunSlide supports this: at most one column outside the image on each
// side, and whole vectors of channels.
bool Slides(const Shape &s, Index channels) {
  const Index right = (s.out_w - 1) * s.stride_w + 3 - s.pad_left - s.in_w;
  return kCanSlide && s.kernel_h == 3 && s.kernel_w == 3 && s.dilation_h == 1 &&
         s.dilation_w == 1 && s.stride_h == s.stride_w &&
         (s.stride_w == 1 || s.stride_w == 2) && s.pad_left <= 1 &&
         right <= 1 && channels >= sv::kLanes;
}

// If the distance of output pixels is a multiple of this, the cache lines of a
// vector of channels fall into two sets of a 64-set cache, where stores evict
// each other. Then results are collected for several vectors of channels and
// stored pixel by pixel, to consecutive lines. On Zen 5, layers of MobileNet v1
// with 512 and 1024 channels take 0.8 times as long; with 256 channels, or with
// stride 2, where stores are rarer, there is no gain.
constexpr Index kFewSets = 2048 / sizeof(Element);
constexpr Index kCollected = 4;  // vectors

// The filter values for a vector of channels. `tap`, below: elements from tap
// to tap of the whole filter.
struct alignas(64) SlideFilter {
  Weight taps[9 * sv::kLanes];
  Weight bias[sv::kLanes];
};

void LoadFilter(const Args &args,
                const Weight *filter,
                Index tap,
                Index channel,
                SlideFilter *to) {
  MACE_UNROLL for (int t = 0; t < 9; ++t) {
    sv::StoreWeight(to->taps + t * sv::kLanes,
                    sv::LoadWeight(filter + t * tap + channel));
  }
  sv::StoreWeight(to->bias, args.epilogue.bias == nullptr
                                ? sv::Zero()
                                : sv::LoadF32(args.epilogue.bias + channel));
}

// Vectors of channels of one image.
struct SlideGroup {
  const Element *image;  // at channel 0
  Element *out;
  Index vectors;
  Index channel[kCollected];  // where each begins
  SlideFilter filter[kCollected];
};

// Stores the contents of `from`, [rows][outputs][kCollected] vectors.
void StoreCollected(const SlideGroup &group,
                    const Element *from,
                    const Slide &s,
                    Index outputs,
                    Index output,
                    Element *out,
                    Index output_row) {
  for (Index r = 0; r < s.rows; ++r, out += output_row) {
    Element *pixel = out;
    for (Index t = 0; t < outputs; ++t, pixel += output) {
      for (Index v = 0; v < group.vectors; ++v) {
        sv::Store(pixel + group.channel[v], sv::Load(from + v * sv::kLanes));
      }
      from += kCollected * sv::kLanes;
    }
  }
}

// Computes rows [row, row + slide->rows) of outputs, all columns. The other
// fields of `slide` do not depend on these.
void RunSlide(const Args &args,
              Index row,
              bool collect,
              const SlideGroup &group,
              Slide *slide) {
  const Shape &shape = args.shape;
  alignas(64)
      Element collected[kSlideRows * kSlideWidth * kCollected * sv::kLanes];
  const Index output_row = shape.out_w * args.output_stride;
  slide->first = row * shape.stride_h - shape.pad_top;
  for (Index w = 0; w < shape.out_w;) {
    // As even as possible: 8 = 4 + 4, not 7 + 1.
    const Index parts = (shape.out_w - w + kSlideWidth - 1) / kSlideWidth;
    const Index outputs = (shape.out_w - w + parts - 1) / parts;
    const Index column = w * shape.stride_w - shape.pad_left;
    const Element *image =
        group.image + slide->first * slide->image_row + column * slide->pixel;
    Element *out = group.out + row * output_row + w * args.output_stride;
    slide->left_inside = column >= 0;
    slide->right_inside =
        column + (outputs - 1) * shape.stride_w + 3 <= shape.in_w;
    slide->output = collect ? kCollected * sv::kLanes : args.output_stride;
    slide->output_row = collect ? outputs * slide->output : output_row;
    const SlideFunction run =
        shape.stride_w == 1 ? kSlides<1>[outputs - 1] : kSlides<2>[outputs - 1];
    for (Index v = 0; v < group.vectors; ++v) {
      slide->row = image + group.channel[v];
      slide->out =
          collect ? collected + v * sv::kLanes : out + group.channel[v];
      slide->taps = group.filter[v].taps;
      slide->bias = group.filter[v].bias;
      run(*slide);
    }
    if (collect) {
      StoreCollected(group, collected, *slide, outputs, args.output_stride, out,
                     output_row);
    }
    w += outputs;
  }
}

// The last vector of channels overlaps the one before it instead of being
// partial.
void RunSlides(const Args &args,
               const Range &range,
               const Weight *filter,
               Index tap) {
  const Shape &shape = args.shape;
  alignas(64) Weight bounds[2 * sv::kLanes];
  sv::StoreWeight(bounds, sv::Set(args.epilogue.low));
  sv::StoreWeight(bounds + sv::kLanes, sv::Set(args.epilogue.high));
  Slide slide = {};
  slide.image_rows = shape.in_h;
  slide.pixel = shape.in_c;
  slide.image_row = shape.in_w * shape.in_c;
  slide.clamp = args.epilogue.clamp;
  slide.low = bounds;
  slide.high = bounds + sv::kLanes;
  const bool collect =
      shape.stride_w == 1 && args.output_stride % kFewSets == 0;
  const Index most = collect ? kCollected : 1;
  SlideGroup group;
  for (Index row = range.row_begin; row < range.row_end; row += slide.rows) {
    const Index n = row / shape.out_h;
    const Index in_image = shape.out_h - row % shape.out_h;
    const Index left = range.row_end - row;
    slide.rows = left < in_image ? left : in_image;
    if (slide.rows > kSlideRows) slide.rows = kSlideRows;
    group.image = static_cast<const Element *>(args.input) +
                  n * shape.in_h * slide.image_row;
    group.out = static_cast<Element *>(args.output) +
                n * shape.out_h * shape.out_w * args.output_stride;
    for (Index c = range.group_begin; c < range.group_end;) {
      group.vectors = 0;
      while (group.vectors < most && c < range.group_end) {
        const Index last = range.group_end - sv::kLanes;
        const Index at = c < last ? c : last;
        LoadFilter(args, filter, tap, at, &group.filter[group.vectors]);
        group.channel[group.vectors++] = at;
        c += sv::kLanes;
      }
      RunSlide(args, row % shape.out_h, collect, group, &slide);
    }
  }
}

}  // namespace
}  // namespace mace::dwconv::MACE_ISA

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_SLIDE_H_
