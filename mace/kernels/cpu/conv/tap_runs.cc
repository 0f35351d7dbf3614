// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/tap_runs.h"

#include <algorithm>

namespace mace::conv {
namespace {

using Index = ptrdiff_t;

// With fewer products per tap, the sums would be loaded and stored too often.
constexpr Index kMinDepth = 64;
// A tile reads and writes its sums once per K-block, which is then one tap;
// this costs as much as this many products.
constexpr double kSumCost = 4.0;
// With fewer rows than this, each addition waits for the previous one.
constexpr double kMinTileRows = 4.0;
// Skipping taps must save more than the additional loads and stores of sums
// cost.
constexpr double kWorthwhile = 0.97;

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }

// Taps [begin, end) of one axis.
struct Taps {
  Index begin;
  Index end;

  bool operator==(const Taps &other) const {
    return begin == other.begin && end == other.end;
  }
};

struct Axis {
  Index kernel;
  Index stride;
  Index dilation;
  Index pad;
  Index size;  // of the image
  Index outputs;
};

Axis Vertical(const Shape &s) {
  return {s.kernel_h, s.stride_h, s.dilation_h, s.pad_top, s.in_h, s.out_h};
}
Axis Horizontal(const Shape &s) {
  return {s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, s.in_w, s.out_w};
}

// The taps inside the image; if there are none, one that is outside.
Taps Inside(const Axis &a, Index output) {
  const Index first = output * a.stride - a.pad;
  const Index begin = first >= 0 ? 0 : DivideUp(-first, a.dilation);
  const Index end = first >= a.size ? 0 : (a.size - 1 - first) / a.dilation + 1;
  const Taps taps = {std::min(begin, a.kernel), std::min(end, a.kernel)};
  return taps.begin < taps.end ? taps : Taps{0, 1};
}

Taps All(const Axis &a) { return {0, a.kernel}; }

uint64_t Bits(const Shape &s, const Taps &rows, const Taps &columns) {
  const uint64_t ones =
      ((uint64_t{1} << (columns.end - columns.begin - 1) << 1) - 1)
      << columns.begin;
  uint64_t bits = 0;
  for (Index i = rows.begin; i < rows.end; ++i) {
    bits |= ones << (i * s.kernel_w);
  }
  return bits;
}

// Calls function(begin, end, taps) for all ranges of outputs [begin, end) of an
// axis that have the same taps.
template <typename Function>
void ForEachSegment(const Axis &a, Index begin, Index end, Function function) {
  while (begin < end) {
    const Taps taps = Inside(a, begin);
    Index next = begin + 1;
    while (next < end && Inside(a, next) == taps) ++next;
    function(begin, next, taps);
    begin = next;
  }
}

// The cost of a tap for `rows` adjacent rows, in products of one row.
double TapCost(Index rows, Index row_tile, double depth) {
  const double tiles = static_cast<double>(DivideUp(rows, row_tile));
  const double tile_rows =
      std::max(static_cast<double>(rows) / tiles, kMinTileRows);
  return tiles * tile_rows * (depth + kSumCost);
}

}  // namespace

TapSkipping ChooseSkipping(const DirectPlan &plan) {
  const Shape &s = plan.shape;
  if (plan.depth < kMinDepth || plan.taps == 1 ||
      plan.taps > static_cast<Index>(gemm::kMaxSkippedTaps)) {
    return TapSkipping::kNone;
  }
  const double depth = static_cast<double>(plan.depth);
  const Index tile = static_cast<Index>(plan.arithmetic->row_tile);
  double by_rows = 0.0;
  double by_pixels = 0.0;
  double columns = 0.0;  // taps of a row of outputs that reads one row
  const Axis horizontal = Horizontal(s);
  ForEachSegment(horizontal, 0, s.out_w,
                 [&](Index begin, Index end, const Taps &taps) {
                   columns += static_cast<double>(taps.end - taps.begin) *
                              TapCost(end - begin, tile, depth);
                 });
  ForEachSegment(Vertical(s), 0, s.out_h,
                 [&](Index begin, Index end, const Taps &taps) {
                   const auto read = static_cast<double>(taps.end - taps.begin);
                   const auto rows = static_cast<double>(end - begin);
                   by_rows += read * static_cast<double>(s.kernel_w) *
                              TapCost((end - begin) * s.out_w, tile, depth);
                   by_pixels += read * rows * columns;
                 });
  const double all = static_cast<double>(plan.taps) * depth *
                     static_cast<double>(s.out_h * s.out_w);
  if (by_pixels < by_rows && by_pixels < kWorthwhile * all) {
    return TapSkipping::kPixels;
  }
  return by_rows < kWorthwhile * all ? TapSkipping::kRows : TapSkipping::kNone;
}

gemm::TapRuns FindTapRuns(const DirectPlan &plan,
                          ptrdiff_t row_begin,
                          ptrdiff_t row_end,
                          gemm::TapRun *runs) {
  gemm::TapRuns found;
  if (plan.skipping == TapSkipping::kNone) return found;
  const Shape &s = plan.shape;
  const Axis horizontal = Horizontal(s);
  const Axis vertical = Vertical(s);
  const auto add = [&](Index count, uint64_t taps) {
    const size_t begin = found.count == 0 ? 0 : runs[found.count - 1].end;
    const size_t end = begin + static_cast<size_t>(count);
    if (found.count > 0 && runs[found.count - 1].taps == taps) {
      runs[found.count - 1].end = end;
    } else {
      runs[found.count++] = {begin, end, taps};
    }
  };
  for (Index row = row_begin; row < row_end;) {
    const Index w = row % s.out_w;
    const Index w_end = std::min(s.out_w, w + row_end - row);
    const Taps rows = Inside(vertical, row / s.out_w % s.out_h);
    if (plan.skipping == TapSkipping::kRows) {
      add(w_end - w, Bits(s, rows, All(horizontal)));
    } else {
      ForEachSegment(horizontal, w, w_end,
                     [&](Index begin, Index end, const Taps &columns) {
                       add(end - begin, Bits(s, rows, columns));
                     });
    }
    row += w_end - w;
  }
  found.run = runs;
  return found;
}

}  // namespace mace::conv
