// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/dwconv_3x3.h"
#include "mace/kernels/cpu/dwconv/dwconv_slide.h"
#include "mace/kernels/cpu/dwconv/dwconv_spread.h"
#include "mace/kernels/cpu/simd_element.h"

namespace mace::dwconv::MACE_ISA {
namespace {

// Outputs computed side by side: 8 sums, one filter row of at most 5 and one
// pixel fit the 16 registers of the smaller ISAs.
constexpr int kMaxOutputs = 8;

MACE_SIMD_INLINE Index Min(Index a, Index b) { return a < b ? a : b; }
MACE_SIMD_INLINE Index Max(Index a, Index b) { return a > b ? a : b; }
MACE_SIMD_INLINE Index DivideUp(Index a, Index b) {
  return a <= 0 ? 0 : (a + b - 1) / b;
}

// Taps [begin, end) that fall inside [0, size) from `origin` on.
struct Taps {
  Index begin;
  Index end;
};
MACE_SIMD_INLINE Taps InsideTaps(Index origin,
                                 Index kernel,
                                 Index dilation,
                                 Index size) {
  const Index begin = Min(DivideUp(-origin, dilation), kernel);
  const Index end = Min(DivideUp(size - origin, dilation), kernel);
  return {begin, Max(begin, end)};
}

// The channels of one vector in one row of outputs.
struct Strip {
  const Element *row;    // pixel 0 of image row 0 of this batch, at the channel
  const Weight *filter;  // tap 0, at the channel
  sv::V bias;
  Element *out;  // output column 0 of this row, at the channel
  Index h0;      // image row under the first kernel row; may lie outside
  Taps rows;     // kernel rows inside the image
  int lanes;     // valid channels; used by partial strips alone
};

// Strides in floats, and whatever else stays the same for all strips.
struct Geometry {
  Index pixel;      // from pixel to pixel of the image
  Index image_row;  // from row to row
  Index tap;        // from tap to tap of the filter
  Index output;     // from pixel to pixel of the output
  bool clamp;
  sv::V low;
  sv::V high;
};

// kFull: all lanes.
template <bool kFull>
MACE_SIMD_INLINE sv::V LoadChannels(const Element *p, int lanes) {
  return kFull ? sv::Load(p) : sv::LoadN(p, lanes);
}
template <bool kFull>
MACE_SIMD_INLINE sv::V LoadTap(const Weight *p, int lanes) {
  return kFull ? sv::LoadWeight(p) : sv::LoadWeightN(p, lanes);
}

template <bool kFull, int kOutputs>
MACE_SIMD_INLINE void StoreOutputs(const Geometry &g,
                                   const Strip &s,
                                   Index w,
                                   sv::V (&acc)[kOutputs]) {
  Element *out = s.out + w * g.output;
  MACE_UNROLL for (int t = 0; t < kOutputs; ++t, out += g.output) {
    sv::V x = acc[t];
    if (g.clamp) x = sv::Clamp(x, g.low, g.high);
    if (kFull) {
      sv::Store(out, x);
    } else {
      sv::StoreN(out, x, s.lanes);
    }
  }
}

// kOutputs outputs from column w on, any kernel; `taps` are the kernel columns
// inside the image for all of them.
template <bool kFull, int kOutputs>
MACE_SIMD_INLINE void RunAny(
    const Shape &shape, const Geometry &g, const Strip &s, Index w, Taps taps) {
  sv::V acc[kOutputs];
  MACE_UNROLL for (int t = 0; t < kOutputs; ++t) acc[t] = s.bias;
  const Index step = shape.stride_w * g.pixel;
  const Index w0 = w * shape.stride_w - shape.pad_left;
  for (Index i = s.rows.begin; i < s.rows.end; ++i) {
    const Element *x = s.row + (s.h0 + i * shape.dilation_h) * g.image_row +
                       (w0 + taps.begin * shape.dilation_w) * g.pixel;
    const Weight *f = s.filter + (i * shape.kernel_w + taps.begin) * g.tap;
    for (Index j = taps.begin; j < taps.end; ++j) {
      const sv::V v = LoadTap<kFull>(f, s.lanes);
      MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
        acc[t] = sv::Fma(LoadChannels<kFull>(x + t * step, s.lanes), v, acc[t]);
      }
      x += shape.dilation_w * g.pixel;
      f += g.tap;
    }
  }
  StoreOutputs<kFull>(g, s, w, acc);
}

// The same for a known kernel width and stride without dilation: a pixel is
// loaded once for all outputs that it reaches.
template <int kKernel, int kStride, int kOutputs>
MACE_SIMD_INLINE void RunFixed(const Shape &shape,
                               const Geometry &g,
                               const Strip &s,
                               Index w) {
  sv::V acc[kOutputs];
  MACE_UNROLL for (int t = 0; t < kOutputs; ++t) acc[t] = s.bias;
  const Element *x = s.row +
                     (s.h0 + s.rows.begin * shape.dilation_h) * g.image_row +
                     (w * kStride - shape.pad_left) * g.pixel;
  const Weight *f = s.filter + s.rows.begin * kKernel * g.tap;
  for (Index i = s.rows.begin; i < s.rows.end; ++i) {
    sv::V v[kKernel];
    MACE_UNROLL for (int j = 0; j < kKernel; ++j) {
      v[j] = sv::LoadWeight(f + j * g.tap);
    }
    const Element *p = x;
    MACE_UNROLL for (int q = 0; q < (kOutputs - 1) * kStride + kKernel; ++q) {
      const sv::V pixel = sv::Load(p);
      p += g.pixel;
      // Output t sees this pixel at tap q - t * kStride. From the first t on,
      // so that every output takes its taps in ascending order.
      MACE_UNROLL for (int t = 0; t < kOutputs; ++t) {
        const int j = q - t * kStride;
        if (j >= 0 && j < kKernel) acc[t] = sv::Fma(pixel, v[j], acc[t]);
      }
    }
    x += shape.dilation_h * g.image_row;
    f += kKernel * g.tap;
  }
  StoreOutputs<true>(g, s, w, acc);
}

// One of kMaxOutputs, ..., 1 outputs by a jump; `Body` is a class template
// over the count.
template <template <int> class Body, typename... Args>
MACE_SIMD_INLINE void Dispatch(Index outputs, const Args &...args) {
  switch (outputs) {
    case 1:
      return Body<1>::Run(args...);
    case 2:
      return Body<2>::Run(args...);
    case 3:
      return Body<3>::Run(args...);
    case 4:
      return Body<4>::Run(args...);
    case 5:
      return Body<5>::Run(args...);
    case 6:
      return Body<6>::Run(args...);
    case 7:
      return Body<7>::Run(args...);
    default:
      return Body<8>::Run(args...);
  }
}

template <int kOutputs>
struct AnyBody {
  static inline __attribute__((always_inline)) void Run(const Shape &shape,
                                                        const Geometry &g,
                                                        const Strip &s,
                                                        Index w) {
    RunAny<true, kOutputs>(shape, g, s, w, {0, shape.kernel_w});
  }
};

template <int kKernel, int kStride>
struct Fixed {
  template <int kOutputs>
  struct Body {
    static inline __attribute__((always_inline)) void Run(const Shape &shape,
                                                          const Geometry &g,
                                                          const Strip &s,
                                                          Index w) {
      RunFixed<kKernel, kStride, kOutputs>(shape, g, s, w);
    }
  };
};

using Middle =
    void (*)(const Shape &, const Geometry &, const Strip &, Index, Index);

// Output columns [begin, end), which see no column outside the image.
template <template <int> class Body>
void RunMiddle(const Shape &shape,
               const Geometry &g,
               const Strip &s,
               Index begin,
               Index end) {
  while (begin < end) {
    // As even as possible: 12 = 6 + 6 rather than 8 + 4.
    const Index left = end - begin;
    const Index parts = (left + kMaxOutputs - 1) / kMaxOutputs;
    const Index outputs = (left + parts - 1) / parts;
    Dispatch<Body>(outputs, shape, g, s, begin);
    begin += outputs;
  }
}

Middle ChooseMiddle(const Shape &s) {
  if (s.dilation_w == 1) {
    // Where 3x3 filters have code of their own, what it does not fit is rare.
    if constexpr (!fixed3x3::kAvailable) {
      if (s.kernel_w == 3 && s.stride_w == 1)
        return &RunMiddle<Fixed<3, 1>::Body>;
      if (s.kernel_w == 3 && s.stride_w == 2)
        return &RunMiddle<Fixed<3, 2>::Body>;
    }
    if (s.kernel_w == 5 && s.stride_w == 1)
      return &RunMiddle<Fixed<5, 1>::Body>;
    if (s.kernel_w == 5 && s.stride_w == 2)
      return &RunMiddle<Fixed<5, 2>::Body>;
  }
  return &RunMiddle<AnyBody>;
}

// Output columns whose taps all lie inside the image.
struct Columns {
  Index begin;
  Index end;
};
Columns InsideColumns(const Shape &s) {
  const Index begin = Min(DivideUp(s.pad_left, s.stride_w), s.out_w);
  const Index last = s.in_w + s.pad_left - (s.kernel_w - 1) * s.dilation_w - 1;
  const Index end = last < 0 ? 0 : Min(last / s.stride_w + 1, s.out_w);
  return {begin, Max(begin, end)};
}

template <bool kFull>
void RunEdge(const Shape &shape,
             const Geometry &g,
             const Strip &s,
             Index begin,
             Index end) {
  for (Index w = begin; w < end; ++w) {
    const Taps taps = InsideTaps(w * shape.stride_w - shape.pad_left,
                                 shape.kernel_w, shape.dilation_w, shape.in_w);
    RunAny<kFull, 1>(shape, g, s, w, taps);
  }
}

// Some numbers of the filter, from number `at` on.
MACE_SIMD_INLINE sv::V LoadFilter(const Args &args, Index at, int n) {
  if (args.type == WeightType::kF32) {
    return sv::LoadF32N(static_cast<const float *>(args.filter) + at, n);
  }
  const uint16_t *p = static_cast<const uint16_t *>(args.filter) + at;
  return args.type == WeightType::kF16 ? sv::LoadF16N(p, n)
                                       : sv::LoadBf16N(p, n);
}

Index FilterElements(const Shape &s) {
  return s.kernel_h * s.kernel_w * s.depth * OutputChannels(s);
}

// The filter as kOwnType.
void Convert(const Args &args, const Range &range, Weight *to) {
  const Shape &s = args.shape;
  const Index all = OutputChannels(s);
  const Index begin = range.group_begin * s.multiplier;
  const Index end = range.group_end * s.multiplier;
  for (Index tap = 0; tap < s.kernel_h * s.kernel_w * s.depth; ++tap) {
    for (Index c = begin; c < end; c += sv::kLanes) {
      const int n = static_cast<int>(Min(sv::kLanes, end - c));
      const Index at = tap * all + c;
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
  s.bias = args.bias == nullptr ? sv::Zero()
                                : sv::LoadF32N(args.bias + out_c, lanes);
  s.out = row.out + out_c;
  s.h0 = row.h0;
  s.rows = row.taps;
  s.lanes = lanes;
  return s;
}

// Channels by vectors; the last vector overlaps the one before it
// rather than being partial, unless there are fewer channels than lanes.
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
    middle(shape, g, s, inside.begin, inside.end);
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

// Rows of outputs, from `first` on, that see the same rows of the kernel.
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

// The rows from r on by the code for 3x3 filters: how many it did.
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
  c.bias = args.bias == nullptr ? nullptr : args.bias + channel;
  c.count = SameRows(shape, row, r, range.row_end);
  c.tap = g.tap;
  c.pixel = g.pixel * kBytes;
  c.image_row = g.image_row * kBytes;
  c.row_step = shape.stride_h * c.image_row;
  c.output_row = shape.out_w * c.pixel;
  c.clamp = args.clamp;
  c.low = args.low;
  c.high = args.high;
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

// Depth and multiplier of 1: a group is a channel. `tap`: elements from tap to
// tap of the filter.
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
  g.clamp = args.clamp;
  g.low = sv::Set(args.low);
  g.high = sv::Set(args.high);
  if (Slides(shape, range.group_end - range.group_begin)) {
    RunSlides(args, range, filter, tap);
    return;
  }
  const Columns inside = InsideColumns(shape);
  const Middle middle = ChooseMiddle(shape);
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

// Band by band of rows, each a plain convolution of its copy.
void RunSpread(const Args &args,
               const Range &range,
               const Weight *filter,
               Element *copy) {
  const Shape &s = args.shape;
  const Index groups = range.group_end - range.group_begin;
  const Index first_output = range.group_begin * s.multiplier;
  const Index most = BandRows(s);
  Args band = args;
  band.input = copy;
  if (args.bias != nullptr) band.bias = args.bias + first_output;
  Shape &plain = band.shape;
  plain.batch = 1;
  plain.in_c = groups * s.multiplier;
  plain.in_w = s.in_w * s.depth;
  plain.depth = 1;
  plain.multiplier = 1;
  plain.kernel_w = s.kernel_w * s.depth;
  plain.stride_w = s.stride_w * s.depth;
  plain.pad_left = s.pad_left * s.depth;
  for (Index row = range.row_begin; row < range.row_end;) {
    const Index h = row % s.out_h;
    const Index rows = Min(most, Min(s.out_h - h, range.row_end - row));
    // Rows of the image under the band; where all lie outside, some one.
    const Index top = h * s.stride_h - s.pad_top;
    const Index begin = Min(Max(top, 0), s.in_h - 1);
    const Index end = Max(begin + 1, Min(top + ReachOf(s, rows), s.in_h));
    const Index image_row = row / s.out_h * s.in_h + begin;
    SpreadPixels(s,
                 static_cast<const Element *>(args.input) +
                     image_row * s.in_w * s.in_c + range.group_begin * s.depth,
                 (end - begin) * s.in_w, groups, copy);
    plain.in_h = end - begin;
    plain.out_h = rows;
    plain.pad_top = begin - top;
    band.output = static_cast<Element *>(args.output) +
                  row * s.out_w * args.output_stride + first_output;
    RunPlain(band, {0, rows, 0, plain.in_c}, filter + first_output,
             OutputChannels(s));
    row += rows;
  }
}

Index Align(Index bytes) { return (bytes + 63) / 64 * 64; }

// The converted filter comes first in scratch.
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

extern const Kernels kKernels;
const Kernels kKernels = {&Run, kOwnType, &ScratchBytes};

}  // namespace mace::dwconv::MACE_ISA
