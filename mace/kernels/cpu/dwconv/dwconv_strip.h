// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A strip of outputs: the channels of one vector in one row, for any kernel
// size, stride and padding. Up to 8 adjacent outputs share their loads; outputs
// for which a column of the kernel is outside the image are computed one by
// one. Included only by dwconv_isa.cc.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_STRIP_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_STRIP_H_

#include <cstddef>

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/dwconv_3x3.h"
#include "mace/kernels/cpu/simd_element.h"

namespace mace::dwconv::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA::element;
using sv::Element;
using sv::Weight;
using Index = ptrdiff_t;

// Adjacent outputs that are computed together: 8 sums, one filter row of at
// most 5 and one pixel fit the 16 registers of the smaller ISAs.
constexpr int kMaxOutputs = 8;

MACE_SIMD_INLINE Index Min(Index a, Index b) { return a < b ? a : b; }
MACE_SIMD_INLINE Index Max(Index a, Index b) { return a > b ? a : b; }
MACE_SIMD_INLINE Index DivideUp(Index a, Index b) {
  return a <= 0 ? 0 : (a + b - 1) / b;
}

// Taps [begin, end) that are inside [0, size), starting at `origin`.
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
  int lanes;     // valid channels; used only by partial strips
};

// Strides in elements, and other values that are the same for all strips.
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

// Computes kOutputs outputs from column w on, for any kernel; `taps` are the
// kernel columns that are inside the image for all of them.
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

// The same for a constant kernel width and stride, without dilation: a pixel is
// loaded once for all outputs that need it.
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
      // For output t, this pixel is tap q - t * kStride. Outputs are in
      // ascending order, so that every output adds its taps in ascending order.
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

// Jumps to the code for kMaxOutputs, ..., 1 outputs; `Body` is a class template
// with the count as its argument.
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

// A function of type Middle.
template <template <int> class Body>
void RunMiddle(const Shape &shape,
               const void *geometry,
               const void *strip,
               Index begin,
               Index end) {
  const Geometry &g = *static_cast<const Geometry *>(geometry);
  const Strip &s = *static_cast<const Strip *>(strip);
  while (begin < end) {
    // As even as possible: 12 = 6 + 6, not 8 + 4.
    const Index left = end - begin;
    const Index parts = (left + kMaxOutputs - 1) / kMaxOutputs;
    const Index outputs = (left + parts - 1) / parts;
    Dispatch<Body>(outputs, shape, g, s, begin);
    begin += outputs;
  }
}

inline Middle ChooseMiddle(const Shape &s, const FiveWideKernels *five_wide) {
  if (s.dilation_w == 1) {
    // If 3x3 filters have their own code, this code rarely computes them.
    if constexpr (!fixed3x3::kAvailable) {
      if (s.kernel_w == 3 && s.stride_w == 1)
        return &RunMiddle<Fixed<3, 1>::Body>;
      if (s.kernel_w == 3 && s.stride_w == 2)
        return &RunMiddle<Fixed<3, 2>::Body>;
    }
    if (s.kernel_w == 5 && five_wide != nullptr) {
      if (s.stride_w == 1) return five_wide->stride1;
      if (s.stride_w == 2) return five_wide->stride2;
    }
  }
  return &RunMiddle<AnyBody>;
}

// Output columns whose taps are all inside the image.
struct Columns {
  Index begin;
  Index end;
};
inline Columns InsideColumns(const Shape &s) {
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

}  // namespace
}  // namespace mace::dwconv::MACE_ISA

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_STRIP_H_
