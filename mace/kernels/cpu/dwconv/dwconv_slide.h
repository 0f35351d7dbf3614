// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The walk down a band of rows (slide_walk.h) for one channel per output.
// Included only by dwconv_isa.cc.
//
// The distance between adjacent columns is the number of channels. With 512
// channels, the columns use only two sets of a 64-set L1 cache, so a row that
// is loaded again for the next output row comes from L2: three such loads per
// output limit the row-wise kernel; here 1.6 remain. On Zen 5, layers of
// MobileNet v1 and v2 take 0.5 to 0.75 times as long. On Sapphire Rapids,
// layers of stride 1 and at most 28x28 pixels take 0.45 to 0.8 times as long
// with AVX2.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_SLIDE_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_SLIDE_H_

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/slide_walk.h"
#include "mace/kernels/cpu/simd_element.h"

namespace mace::dwconv::MACE_ISA {
namespace {

alignas(64) constexpr Element kZeroPixel[sv::kLanes] = {};

// The filter of a vector of channels, in registers.
struct ChannelTaps {
  sv::V tap[9];

  template <int kStride, int kOutputs, int kTapRows>
  MACE_SIMD_INLINE void Add(const Slide &s,
                            const ChannelTaps &taps,
                            const Element *row,
                            sv::V (&acc)[3][kOutputs]) {
    constexpr int kPixels = (kOutputs - 1) * kStride + 3;
    const Element *left = s.left_inside ? row : kZeroPixel;
    const Element *right =
        s.right_inside ? row + (kPixels - 1) * s.pixel : kZeroPixel;
    MACE_UNROLL for (int q = 0; q < kPixels; ++q) {
      const sv::V pixel = sv::Load(q == 0             ? left
                                   : q == kPixels - 1 ? right
                                                      : row + q * s.pixel);
      // From the first output on, so that each output adds its taps in
      // ascending order.
      MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
        const int j = q - t * kStride;
        if (j >= 0 && j < 3) {
          MACE_UNROLL for (int i = 0; i < 3; ++i) {
            if ((kTapRows >> i & 1) != 0) {
              acc[i][t] = sv::Fma(pixel, taps.tap[i * 3 + j], acc[i][t]);
            }
          }
        }
      }
    }
  }
};

struct ChannelSlide {
  Slide walk;
  const Weight *taps;  // [9][kLanes]
};

template <int kStride, int kOutputs>
void SlideBlock(const ChannelSlide &s) {
  ChannelTaps taps;
  MACE_UNROLL for (int i = 0; i < 9; ++i) {
    taps.tap[i] = sv::LoadWeight(s.taps + i * sv::kLanes);
  }
  if constexpr (kStride == 1) {
    SlideOne<kOutputs>(s.walk, taps);
  } else {
    SlideTwo<kOutputs>(s.walk, taps);
  }
}

using SlideFunction = void (*)(const ChannelSlide &);
// For 1, 2, ... kSlideWidth outputs.
template <int kStride>
struct SlideSet {
  SlideFunction of_outputs[kSlideWidth];

  template <int kOutputs = 1>
  constexpr void Fill() {
    of_outputs[kOutputs - 1] = &SlideBlock<kStride, kOutputs>;
    if constexpr (kOutputs < kSlideWidth) Fill<kOutputs + 1>();
  }
  constexpr SlideSet() : of_outputs{} { Fill(); }
};
template <int kStride>
constexpr SlideSet<kStride> kSlides;

// Whether RunSlide supports this: whole vectors of channels.
bool Slides(const Shape &s, Index channels) {
  return Walks(s) && channels >= sv::kLanes;
}

// If the distance of output pixels is a multiple of this, the cache lines of a
// vector of channels fall into two sets of a 64-set cache, where stores evict
// each other. Then results are collected for several vectors of channels and
// stored pixel by pixel, to consecutive lines. On Zen 5, layers of MobileNet v1
// with 512 and 1024 channels take 0.8 times as long; with 256 channels, or with
// stride 2, where stores are rarer, there is no gain. With AVX2, whose vectors
// are half a line, 256 channels take 0.85 times as long, too.
constexpr Index kFewSets = (sv::kLanes >= 16 ? 2048 : 1024) / sizeof(Element);
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

// Computes rows [row, row + channels->walk.rows) of outputs, all columns. The
// other fields of `channels` do not depend on these.
void RunSlide(const Args &args,
              Index row,
              bool collect,
              const SlideGroup &group,
              ChannelSlide *channels) {
  Slide *slide = &channels->walk;
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
    SlideFunction run = kSlides<1>.of_outputs[outputs - 1];
    if constexpr (kSlidesByTwo) {
      if (shape.stride_w == 2) run = kSlides<2>.of_outputs[outputs - 1];
    }
    for (Index v = 0; v < group.vectors; ++v) {
      slide->row = image + group.channel[v];
      slide->out =
          collect ? collected + v * sv::kLanes : out + group.channel[v];
      channels->taps = group.filter[v].taps;
      slide->bias = group.filter[v].bias;
      run(*channels);
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
  ChannelSlide channels = {};
  Slide &slide = channels.walk;
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
      RunSlide(args, row % shape.out_h, collect, group, &channels);
    }
  }
}

}  // namespace
}  // namespace mace::dwconv::MACE_ISA

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_SLIDE_H_
