// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The entry point: converts the filter to the type of the multiplications, and
// computes each row of outputs with the fastest code for it.

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/dwconv_3x3.h"
#include "mace/kernels/cpu/dwconv/dwconv_padded.h"
#include "mace/kernels/cpu/dwconv/dwconv_slide.h"
#include "mace/kernels/cpu/dwconv/dwconv_spread.h"
#include "mace/kernels/cpu/dwconv/dwconv_strip.h"
#include "mace/kernels/cpu/simd_element.h"

namespace mace::dwconv::MACE_ISA {
namespace {

// Loads a vector of the filter from element `at` on.
MACE_SIMD_INLINE sv::V LoadFilter(const Args &args, Index at, int n) {
  if (args.type == WeightType::kF32) {
    return sv::LoadF32N(static_cast<const float *>(args.filter) + at, n);
  }
  const uint16_t *p = static_cast<const uint16_t *>(args.filter) + at;
  return args.type == WeightType::kF16 ? sv::LoadF16N(p, n)
                                       : sv::LoadBf16N(p, n);
}

Index FilterElements(const Shape &s) {
  return s.kernel_h * s.kernel_w * Depth(s) * s.out_c;
}

// Converts the filter to kOwnType.
void Convert(const Args &args, const Range &range, Weight *to) {
  const Shape &s = args.shape;
  const Index begin = range.group_begin * Multiplier(s);
  const Index end = range.group_end * Multiplier(s);
  const Index taps = s.kernel_h * s.kernel_w * Depth(s);
  for (Index tap = 0; tap < taps; ++tap) {
    for (Index c = begin; c < end; c += sv::kLanes) {
      const int n = static_cast<int>(Min(sv::kLanes, end - c));
      const Index at = tap * s.out_c + c;
      sv::StoreWeightN(to + at, LoadFilter(args, at, n), n);
    }
  }
}

// A row of outputs of a batch, at channel 0.
struct Row {
  const Element *image;
  const Weight *filter;
  Element *out;
  Index h0;
  Taps taps;
};

Strip MakeStrip(
    const Args &args, const Row &row, Index in_c, Index out_c, int lanes) {
  Strip s;
  s.row = row.image + in_c;
  s.filter = row.filter + out_c;
  s.bias = args.epilogue.bias == nullptr
               ? sv::Zero()
               : sv::LoadF32N(args.epilogue.bias + out_c, lanes);
  s.out = row.out + out_c;
  s.h0 = row.h0;
  s.rows = row.taps;
  s.lanes = lanes;
  return s;
}

// Loops over vectors of channels; the last vector overlaps the one before it
// instead of being partial, unless there are fewer channels than lanes.
void RunRow(const Args &args,
            const Geometry &g,
            const Row &row,
            const Range &range,
            Columns inside,
            Middle middle) {
  const Shape &shape = args.shape;
  const Index count = range.group_end - range.group_begin;
  if (count < sv::kLanes) {
    const Strip s = MakeStrip(args, row, range.group_begin, range.group_begin,
                              static_cast<int>(count));
    RunEdge<false>(shape, g, s, 0, shape.out_w);
    return;
  }
  for (Index c = range.group_begin; c < range.group_end; c += sv::kLanes) {
    const Index at = Min(c, range.group_end - sv::kLanes);
    const Strip s = MakeStrip(args, row, at, at, sv::kLanes);
    RunEdge<true>(shape, g, s, 0, inside.begin);
    middle(shape, &g, &s, inside.begin, inside.end);
    RunEdge<true>(shape, g, s, inside.end, shape.out_w);
  }
}

Row MakeRow(const Args &args,
            const Geometry &g,
            const Weight *filter,
            Index r) {
  const Shape &shape = args.shape;
  Row row;
  row.image = static_cast<const Element *>(args.input) +
              r / shape.out_h * shape.in_h * g.image_row;
  row.filter = filter;
  row.out = static_cast<Element *>(args.output) +
            r * shape.out_w * args.output_stride;
  row.h0 = r % shape.out_h * shape.stride_h - shape.pad_top;
  row.taps = InsideTaps(row.h0, shape.kernel_h, shape.dilation_h, shape.in_h);
  return row;
}

// The number of rows of outputs, from `first` on, with the same rows of the
// kernel inside the image.
Index SameRows(const Shape &s, const Row &first, Index r, Index end) {
  const Index most =
      Min(fixed3x3::kMaxRows, Min(end - r, s.out_h - r % s.out_h));
  Index count = 1;
  for (Index h0 = first.h0 + s.stride_h; count < most; h0 += s.stride_h) {
    const Taps taps = InsideTaps(h0, s.kernel_h, s.dilation_h, s.in_h);
    if (taps.begin != first.taps.begin || taps.end != first.taps.end) break;
    ++count;
  }
  return count;
}

// Computes rows from r on with the code for 3x3 filters; returns how many it
// computed.
Index RunRows3x3(const Args &args,
                 const Geometry &g,
                 const Row &row,
                 const Range &range,
                 Index r) {
  constexpr Index kBytes = sizeof(Element);
  const Shape &shape = args.shape;
  const Index channel = range.group_begin;
  const Element *image = row.image + (row.h0 + row.taps.begin) * g.image_row -
                         shape.pad_left * g.pixel + channel;
  fixed3x3::Rows rows;
  fixed3x3::Columns &c = rows.first;
  c.image = reinterpret_cast<const char *>(image);
  c.filter = row.filter + row.taps.begin * 3 * g.tap + channel;
  c.out = reinterpret_cast<char *>(row.out + channel);
  c.bias =
      args.epilogue.bias == nullptr ? nullptr : args.epilogue.bias + channel;
  c.count = SameRows(shape, row, r, range.row_end);
  c.tap = g.tap;
  c.pixel = g.pixel * kBytes;
  c.image_row = g.image_row * kBytes;
  c.row_step = shape.stride_h * c.image_row;
  c.output_row = shape.out_w * c.pixel;
  c.clamp = args.epilogue.clamp;
  c.low = args.epilogue.low;
  c.high = args.epilogue.high;
  rows.out_w = shape.out_w;
  rows.channels = range.group_end - channel;
  rows.left = shape.pad_left == 1;
  rows.right =
      (shape.out_w - 1) * shape.stride_w + 3 - shape.pad_left > shape.in_w;
  const Index taps = row.taps.end - row.taps.begin;
  return fixed3x3::Run(rows, shape.stride_w, taps) ? c.count : 0;
}

constexpr WeightType kOwnType =
    sizeof(Weight) == sizeof(float) ? WeightType::kF32 : WeightType::kF16;

// Each group has one channel and one output. `tap`: elements from tap to tap of
// the filter.
void RunPlain(const Args &args,
              const Range &range,
              const Weight *filter,
              Index tap) {
  const Shape &shape = args.shape;
  Geometry g;
  g.pixel = shape.in_c;
  g.image_row = shape.in_w * shape.in_c;
  g.tap = tap;
  g.output = args.output_stride;
  g.clamp = args.epilogue.clamp;
  g.low = sv::Set(args.epilogue.low);
  g.high = sv::Set(args.epilogue.high);
  if (Slides(shape, range.group_end - range.group_begin)) {
    RunSlides(args, range, filter, tap);
    return;
  }
  const Columns inside = InsideColumns(shape);
  const Middle middle = ChooseMiddle(shape, args.five_wide);
  if constexpr (kMayPad) {
    if (Pads(shape, range.group_end - range.group_begin)) {
      RunPadded(args, range, filter, g, middle);
      return;
    }
  }
  const bool fixed = fixed3x3::Fits(shape, args.output_stride) &&
                     range.group_end - range.group_begin >= sv::kLanes;
  for (Index r = range.row_begin; r < range.row_end; ++r) {
    const Row row = MakeRow(args, g, filter, r);
    if (fixed) {
      const Index done = RunRows3x3(args, g, row, range, r);
      if (done > 0) {
        r += done - 1;
        continue;
      }
    }
    RunRow(args, g, row, range, inside, middle);
  }
}

// Computes band after band of rows, each as a plain convolution of its copy,
// for at most BandGroups groups.
void RunSpreadGroups(const Args &args,
                     const Range &range,
                     const Weight *filter,
                     Element *copy) {
  const Shape &s = args.shape;
  const Index groups = range.group_end - range.group_begin;
  const Index depth = Depth(s);
  const Index multiplier = Multiplier(s);
  const Index first_output = range.group_begin * multiplier;
  const Index most = BandRows(s);
  Args band = args;
  band.input = copy;
  if (args.epilogue.bias != nullptr)
    band.epilogue.bias = args.epilogue.bias + first_output;
  Shape &plain = band.shape;
  plain.batch = 1;
  plain.in_c = groups * multiplier;
  plain.out_c = plain.in_c;
  plain.groups = plain.in_c;
  plain.in_w = s.in_w * depth;
  plain.kernel_w = s.kernel_w * depth;
  plain.stride_w = s.stride_w * depth;
  plain.pad_left = s.pad_left * depth;
  for (Index row = range.row_begin; row < range.row_end;) {
    const Index h = row % s.out_h;
    const Index rows = Min(most, Min(s.out_h - h, range.row_end - row));
    // Rows of the image under the band; if all are outside the image, any row.
    const Index top = h * s.stride_h - s.pad_top;
    const Index begin = Min(Max(top, 0), s.in_h - 1);
    const Index end = Max(begin + 1, Min(top + ReachOf(s, rows), s.in_h));
    const Index image_row = row / s.out_h * s.in_h + begin;
    SpreadPixels(s,
                 static_cast<const Element *>(args.input) +
                     image_row * s.in_w * s.in_c + range.group_begin * depth,
                 (end - begin) * s.in_w, groups, copy);
    plain.in_h = end - begin;
    plain.out_h = rows;
    plain.pad_top = begin - top;
    band.output = static_cast<Element *>(args.output) +
                  row * s.out_w * args.output_stride + first_output;
    RunPlain(band, {0, rows, 0, plain.in_c}, filter + first_output, s.out_c);
    row += rows;
  }
}

void RunSpread(const Args &args,
               const Range &range,
               const Weight *filter,
               Element *copy) {
  const Index most = BandGroups(args.shape);
  Range part = range;
  for (Index group = range.group_begin; group < range.group_end;
       group += most) {
    part.group_begin = group;
    part.group_end = Min(group + most, range.group_end);
    RunSpreadGroups(args, part, filter, copy);
  }
}

Index Align(Index bytes) { return (bytes + 63) / 64 * 64; }

// The converted filter is at the start of the scratch memory.
Index ConvertedBytes(const Shape &shape, WeightType filter) {
  if (filter == kOwnType) return 0;
  return Align(FilterElements(shape) * static_cast<Index>(sizeof(Weight)));
}

size_t ScratchBytes(const Shape &shape, WeightType filter) {
  const Index band = Spreads(shape) ? BandElements(shape) : 0;
  return static_cast<size_t>(ConvertedBytes(shape, filter) +
                             Align(band * static_cast<Index>(sizeof(Element))));
}

void Run(const Args &args, const Range &range, void *scratch) {
  const Shape &shape = args.shape;
  const Weight *filter = static_cast<const Weight *>(args.filter);
  if (args.type != kOwnType) {
    Weight *converted = static_cast<Weight *>(scratch);
    Convert(args, range, converted);
    filter = converted;
  }
  if (!Spreads(shape)) {
    RunPlain(args, range, filter, shape.in_c);
    return;
  }
  RunSpread(args, range, filter,
            reinterpret_cast<Element *>(static_cast<char *>(scratch) +
                                        ConvertedBytes(shape, args.type)));
}

}  // namespace

// With few outputs per group, a product uses only that many of 16 lanes. On Zen
// 5 with AVX-512, a 3x3 convolution of 28x28 pixels and 96 channels takes 218
// microseconds as a product with 4 channels per group and 157 with 8; with
// these kernels it takes 69 and 109. Products of AVX2 and SSE4.1 have tiles of
// 8 columns: on Sapphire Rapids, layers of RegNetY 400MF with 8 channels per
// group take 0.68 to 0.75 and 0.82 to 0.90 times as long as with these kernels;
// with 4, as in ResNeXt-50, 1.95 times (AVX2).
#if defined(__SSE4_1__) && !defined(__AVX512F__)
constexpr Index kMostOutputs = 7;
#else
constexpr Index kMostOutputs = 8;
#endif

extern const Kernels kKernels;
const Kernels kKernels = {&Run, kOwnType, &ScratchBytes, kMostOutputs};

}  // namespace mace::dwconv::MACE_ISA
