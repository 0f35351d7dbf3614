// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Filters at least 5 wide over small images. Bands of the image are copied, one
// vector of channels at a time, together with their padding on the left and
// right. Then all columns of a row of outputs are computed together, and reads
// of the copy are from L1, whatever the number of channels. Included only by
// dwconv_isa.cc.
//
// Without a copy, columns whose kernel leaves the image are computed one by
// one, each in one chain of sums: 4 of 7 columns with 5x5 filters, 6 of 7 with
// 7x7. On Sapphire Rapids, with AVX2 and AVX-512, 7x7 pixels take 0.32 to 0.49
// times as long, 14x14 0.55 to 0.66, 28x28 0.76 to 0.96.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_PADDED_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_PADDED_H_

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/dwconv_strip.h"
#include "mace/kernels/cpu/simd_element.h"

namespace mace::dwconv::MACE_ISA {
namespace {

// Not measured on ARM, nor in 16 bits.
#if defined(__SSE4_1__)
constexpr bool kMayPad = sizeof(Element) == sizeof(float);
#else
constexpr bool kMayPad = false;
#endif
// Half of an L1 cache of 32 KiB.
constexpr Index kPaddedElements = 16 * 1024 / sizeof(Element);
// A band of fewer rows of outputs copies too many image rows again.
constexpr Index kLeastPaddedRows = 4;

// Columns of the copy.
MACE_SIMD_INLINE Index PaddedColumns(const Shape &s) {
  return (s.out_w - 1) * s.stride_w + s.kernel_w;
}

// Rows of outputs of a band; 0 if not even one fits.
MACE_SIMD_INLINE Index PaddedRows(const Shape &s) {
  const Index fit = kPaddedElements / (PaddedColumns(s) * sv::kLanes);
  return fit < s.kernel_h ? 0 : (fit - s.kernel_h) / s.stride_h + 1;
}

// Whether a copy is faster: the more columns have padding and the more products
// there are for each copied pixel, the more it saves.
MACE_SIMD_INLINE bool Pads(const Shape &s, Index channels) {
  return kMayPad && channels >= sv::kLanes && s.kernel_w >= 5 &&
         s.pad_left < s.kernel_w && s.dilation_h == 1 && s.dilation_w == 1 &&
         s.stride_h == s.stride_w &&
         s.out_w * s.stride_w * s.stride_w <= 8 * (s.kernel_w - 1) &&
         PaddedRows(s) >= Min(s.out_h, kLeastPaddedRows);
}

// Copies image row `from`, at a channel, to a row of the band.
MACE_SIMD_INLINE void CopyPadded(const Shape &s,
                                 const Element *from,
                                 Element *to) {
  const Index columns = PaddedColumns(s);
  const Index end = Min(s.pad_left + s.in_w, columns);
  Index w = 0;
  for (; w < s.pad_left; ++w) sv::Store(to + w * sv::kLanes, sv::Zero());
  for (; w < end; ++w, from += s.in_c) {
    sv::Store(to + w * sv::kLanes, sv::Load(from));
  }
  for (; w < columns; ++w) sv::Store(to + w * sv::kLanes, sv::Zero());
}

// For what Pads allows. Each group has one channel and one output.
[[maybe_unused]] __attribute__((noinline)) void RunPadded(
    const Args &args,
    const Range &range,
    const Weight *filter,
    const Geometry &geometry,
    Middle middle) {
  alignas(64) Element band[kPaddedElements];
  const Shape &s = args.shape;
  Shape inside = s;
  inside.pad_left = 0;
  inside.in_w = PaddedColumns(s);
  Geometry g = geometry;
  g.pixel = sv::kLanes;
  g.image_row = inside.in_w * g.pixel;
  const Index most = PaddedRows(s);
  for (Index row = range.row_begin; row < range.row_end;) {
    const Index h = row % s.out_h;
    const Index rows = Min(most, Min(s.out_h - h, range.row_end - row));
    const Index top = h * s.stride_h - s.pad_top;
    const Taps copied =
        InsideTaps(top, (rows - 1) * s.stride_h + s.kernel_h, 1, s.in_h);
    const Element *image = static_cast<const Element *>(args.input) +
                           (row / s.out_h * s.in_h + top) * geometry.image_row;
    Element *out =
        static_cast<Element *>(args.output) + row * s.out_w * g.output;
    for (Index c = range.group_begin; c < range.group_end; c += sv::kLanes) {
      const Index at = Min(c, range.group_end - sv::kLanes);
      for (Index i = copied.begin; i < copied.end; ++i) {
        CopyPadded(s, image + i * geometry.image_row + at,
                   band + i * g.image_row);
      }
      Strip strip;
      strip.row = band;
      strip.filter = filter + at;
      strip.bias = args.epilogue.bias == nullptr
                       ? sv::Zero()
                       : sv::LoadF32(args.epilogue.bias + at);
      strip.lanes = sv::kLanes;
      for (Index r = 0; r < rows; ++r) {
        strip.out = out + r * s.out_w * g.output + at;
        strip.h0 = r * s.stride_h;
        strip.rows = InsideTaps(top + strip.h0, s.kernel_h, 1, s.in_h);
        middle(inside, &g, &strip, 0, s.out_w);
      }
    }
    row += rows;
  }
}

}  // namespace
}  // namespace mace::dwconv::MACE_ISA

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_PADDED_H_
