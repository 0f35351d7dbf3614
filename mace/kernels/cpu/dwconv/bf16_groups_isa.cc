// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The walk down a band of rows (slide_walk.h) for groups of several channels.

#define MACE_ELEMENT_BF16  // for simd_element.h

#include "mace/kernels/cpu/dwconv/pair_groups.h"
#include "mace/kernels/cpu/dwconv/slide_walk.h"
#include "mace/kernels/cpu/simd_element.h"

namespace mace::dwconv::MACE_ISA {
namespace {

namespace base = simd::MACE_ISA;

static_assert(sv::kLanes == kPairLanes, "one vector is one panel");

constexpr Index kTaps = 9;
// Elements of the filter per tap and pair of channels.
constexpr Index kPairStep = 2 * kPairLanes;

alignas(64) constexpr Element kZeroPixel[kMaxPairChannels] = {};
alignas(64) constexpr float kNoBias[sv::kLanes] = {};

// The filter of a vector of outputs, in memory: a pair of channels of all
// pixels under a row of outputs is in registers, and each tap is loaded once
// per row.
struct PairTaps {
  const uint16_t *filter;  // [pairs][9][kLanes][2]
  Index pairs;
  bool spread;   // the outputs are of several groups
  sv::VI first;  // then where the first pair of each output's group is

  template <int kStride, int kOutputs, int kTapRows>
  MACE_SIMD_INLINE void Add(const Slide &s,
                            const PairTaps &taps,
                            const Element *row,
                            sv::V (&acc)[3][kOutputs]) {
    constexpr int kPixels = (kOutputs - 1) * kStride + 3;
    const Element *under[kPixels];
    MACE_UNROLL for (int q = 0; q < kPixels; ++q) {
      under[q] = row + q * s.pixel;
    }
    if (!s.left_inside) under[0] = kZeroPixel;
    if (!s.right_inside) under[kPixels - 1] = kZeroPixel;
    const uint16_t *filter = taps.filter;
    sv::VI lanes = taps.first;
#pragma clang loop unroll(disable)
    for (Index pair = 0; pair < taps.pairs; ++pair) {
      base::VU x[kPixels];
      // One loop for both kinds of groups: two would double the code, and the
      // branch is always predicted.
      if (taps.spread) {
        MACE_UNROLL for (int q = 0; q < kPixels; ++q) {
          x[q] = base::SpreadBf16Pairs(under[q], lanes);
        }
      } else {
        MACE_UNROLL for (int q = 0; q < kPixels; ++q) {
          x[q] = base::SetBf16Pair(under[q] + 2 * pair);
        }
      }
      MACE_UNROLL for (int i = 0; i < 3; ++i) {
        if ((kTapRows >> i & 1) == 0) continue;
        MACE_UNROLL for (int j = 0; j < 3; ++j) {
          const base::VU tap =
              base::LoadBf16Pairs(filter + (i * 3 + j) * kPairStep);
          MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
            acc[i][t] = base::DotBf16Pairs(acc[i][t], x[t * kStride + j], tap);
          }
        }
      }
      filter += kTaps * kPairStep;
      lanes += 1;
    }
  }
};

struct PairSlide {
  Slide walk;
  PairTaps taps;
};

template <int kStride, int kOutputs>
void PairBlock(const PairSlide &s) {
  if constexpr (kStride == 1) {
    SlideOne<kOutputs>(s.walk, s.taps);
  } else {
    SlideTwo<kOutputs>(s.walk, s.taps);
  }
}

// The code for a number of outputs of a row. There is none for 3, 5 and 6,
// which would double the code: a block overlaps the one before it.
struct PairBlocks {
  void (*run)(const PairSlide &);
  Index outputs;
};
constexpr int kPairBlockKinds = 4;
template <int kStride>
constexpr PairBlocks kPairBlocks[kPairBlockKinds] = {
    {&PairBlock<kStride, 1>, 1},
    {&PairBlock<kStride, 2>, 2},
    {&PairBlock<kStride, 4>, 4},
    {&PairBlock<kStride, kSlideWidth>, kSlideWidth}};

// The smallest block of at least `outputs`, or the largest that fits the row.
const PairBlocks &BlockFor(const Shape &s, Index outputs) {
  const PairBlocks *block = s.stride_w == 1 ? kPairBlocks<1> : kPairBlocks<2>;
  for (int i = 1; i < kPairBlockKinds; ++i, ++block) {
    if (block->outputs >= outputs || block[1].outputs > s.out_w) break;
  }
  return *block;
}

MACE_SIMD_INLINE Index LessOf(Index a, Index b) { return a < b ? a : b; }

// A vector of outputs in a band of rows.
struct PairBand {
  const Element *image;  // at the vector's first channel
  Element *out;          // at its first output
  Index row;             // first row of outputs
};

// Computes all columns.
void RunBand(const Args &args, const PairBand &band, PairSlide *slide) {
  const Shape &s = args.shape;
  Slide *walk = &slide->walk;
  walk->first = band.row * s.stride_h - s.pad_top;
  const Element *image = band.image + walk->first * walk->image_row;
  Element *out = band.out + band.row * walk->output_row;
  for (Index w = 0; w < s.out_w;) {
    // As even as possible: 8 = 4 + 4, not 7 + 1.
    const Index parts = (s.out_w - w + kSlideWidth - 1) / kSlideWidth;
    const PairBlocks &block = BlockFor(s, (s.out_w - w + parts - 1) / parts);
    const Index begin = LessOf(w, s.out_w - block.outputs);
    const Index column = begin * s.stride_w - s.pad_left;
    walk->left_inside = column >= 0;
    walk->right_inside =
        column + (block.outputs - 1) * s.stride_w + 3 <= s.in_w;
    walk->row = image + column * walk->pixel;
    walk->out = out + begin * args.output_stride;
    block.run(*slide);
    w = begin + block.outputs;
  }
}

void Run(const Args &args, const Range &range, void *) {
  const Shape &s = args.shape;
  const Index channels = s.in_c / s.groups;
  const Index outputs = s.out_c / s.groups;
  alignas(64) float bounds[2 * sv::kLanes];
  base::Store(bounds, base::Set(args.epilogue.low));
  base::Store(bounds + sv::kLanes, base::Set(args.epilogue.high));
  PairSlide slide = {};
  PairTaps *taps = &slide.taps;
  taps->pairs = channels / 2;
  taps->spread = outputs < kPairLanes;
  for (int i = 0; taps->spread && i < sv::kLanes; ++i) {
    taps->first[i] =
        i / static_cast<int>(outputs) * static_cast<int>(taps->pairs);
  }
  Slide *walk = &slide.walk;
  walk->image_rows = s.in_h;
  walk->pixel = s.in_c;
  walk->image_row = s.in_w * s.in_c;
  walk->output = args.output_stride;
  walk->output_row = s.out_w * args.output_stride;
  walk->clamp = args.epilogue.clamp;
  walk->low = bounds;
  walk->high = bounds + sv::kLanes;
  const Index begin = PairVectorsBefore(s, range.group_begin);
  const Index end = PairVectorsBefore(s, range.group_end);
  for (Index row = range.row_begin; row < range.row_end; row += walk->rows) {
    const Index n = row / s.out_h;
    const Index in_image = s.out_h - row % s.out_h;
    const Index left = range.row_end - row;
    walk->rows = left < in_image ? left : in_image;
    if (walk->rows > kSlideRows) walk->rows = kSlideRows;
    for (Index v = begin; v < end; ++v) {
      const Index output = FirstPairOutput(s, v);
      PairBand band;
      band.image = static_cast<const Element *>(args.input) +
                   n * s.in_h * walk->image_row + output / outputs * channels;
      band.out = static_cast<Element *>(args.output) +
                 n * s.out_h * walk->output_row + output;
      band.row = row % s.out_h;
      walk->bias =
          args.epilogue.bias == nullptr ? kNoBias : args.epilogue.bias + output;
      taps->filter = static_cast<const uint16_t *>(args.filter) +
                     v * taps->pairs * kTaps * kPairStep;
      RunBand(args, band, &slide);
    }
  }
}

size_t ScratchBytes(const Shape &, WeightType) { return 0; }

}  // namespace

extern const Kernels kPairGroupKernels;
const Kernels kPairGroupKernels = {&Run, WeightType::kBf16Pairs, &ScratchBytes};

}  // namespace mace::dwconv::MACE_ISA
