// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// For groups of several channels or outputs: copies pixels so that each output
// channel has its own input channel. A pixel [groups][depth] becomes `depth`
// pixels [groups * multiplier]; the d-th of these has channel d of every group,
// repeated for every output of the group. Included only by dwconv_isa.cc.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_SPREAD_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_SPREAD_H_

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/simd_element.h"

namespace mace::dwconv::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA::element;
using sv::Element;
using Index = ptrdiff_t;

// A copied band should stay in L2 while it is used; but with fewer rows than
// kMinBandRows, too many rows would be copied again for the next band. A band
// therefore has only as many groups as leave room for these rows, but at least
// kMinBandOutputs outputs: with less than two vectors of AVX-512, copying a
// pixel would be expensive.
constexpr Index kBandBytes = 256 * 1024;
constexpr Index kMinBandRows = 4;
constexpr Index kMinBandOutputs = 32;

bool Spreads(const Shape &s) {
  return s.in_c != s.groups || s.out_c != s.groups;
}

// Channels of the image and outputs of a group.
Index Depth(const Shape &s) { return s.in_c / s.groups; }
Index Multiplier(const Shape &s) { return s.out_c / s.groups; }

// The number of image rows that `rows` rows of outputs need.
Index ReachOf(const Shape &s, Index rows) {
  return (rows - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
}

// Groups per band.
Index BandGroups(const Shape &s) {
  const Index output_bytes =
      s.in_w * Depth(s) * static_cast<Index>(sizeof(Element));
  const Index fit = kBandBytes / (ReachOf(s, kMinBandRows) * output_bytes);
  const Index outputs = fit / kMinBandOutputs * kMinBandOutputs;
  const Index wanted =
      (outputs < kMinBandOutputs ? kMinBandOutputs : outputs) / Multiplier(s);
  const Index some = wanted < 1 ? 1 : wanted;
  return some < s.groups ? some : s.groups;
}

Index SpreadRowElements(const Shape &s) {
  return s.in_w * Depth(s) * BandGroups(s) * Multiplier(s);
}

// Rows of outputs per band.
Index BandRows(const Shape &s) {
  const Index row_bytes =
      SpreadRowElements(s) * static_cast<Index>(sizeof(Element));
  const Index fit = kBandBytes / row_bytes - ReachOf(s, 1);
  const Index rows = fit < 0 ? 0 : fit / s.stride_h + 1;
  const Index wanted = rows < kMinBandRows ? kMinBandRows : rows;
  return wanted < s.out_h ? wanted : s.out_h;
}

// The size of the band, in elements.
Index BandElements(const Shape &s) {
  const Index reach = ReachOf(s, BandRows(s));
  return (reach < s.in_h ? reach : s.in_h) * SpreadRowElements(s);
}

// y[g * kTimes + m] = x[g * step]: with a constant count the compiler uses
// shuffles.
template <Index kTimes>
void RepeatKnown(const Element *__restrict x,
                 Index step,
                 Index groups,
                 Element *__restrict y) {
  if (step == 1) {
    for (Index g = 0; g < groups; ++g) {
      for (Index m = 0; m < kTimes; ++m) y[g * kTimes + m] = x[g];
    }
    return;
  }
  // There are few groups: vector code would be large and save little time.
#pragma clang loop vectorize(disable) unroll(disable)
  for (Index g = 0; g < groups; ++g) {
    const Element value = x[g * step];
    for (Index m = 0; m < kTimes; ++m) y[g * kTimes + m] = value;
  }
}

void Repeat(
    const Element *x, Index step, Index groups, Index times, Element *y) {
  switch (times) {
    case 2:
      return RepeatKnown<2>(x, step, groups, y);
    case 4:
      return RepeatKnown<4>(x, step, groups, y);
    case 8:
      return RepeatKnown<8>(x, step, groups, y);
    default:
      break;
  }
  for (Index g = 0; g < groups; ++g, y += times) {
    const Element value = x[g * step];
    for (Index m = 0; m < times; ++m) y[m] = value;
  }
}

// Copies `groups` groups of every pixel of some image rows, from the first
// group on.
void SpreadPixels(
    const Shape &s, const Element *x, Index pixels, Index groups, Element *y) {
  const Index depth = Depth(s);
  const Index times = Multiplier(s);
  for (Index pixel = 0; pixel < pixels; ++pixel, x += s.in_c) {
    for (Index d = 0; d < depth; ++d, y += groups * times) {
      Repeat(x + d, depth, groups, times, y);
    }
  }
}

}  // namespace
}  // namespace mace::dwconv::MACE_ISA

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_SPREAD_H_
