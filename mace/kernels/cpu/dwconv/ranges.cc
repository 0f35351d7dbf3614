// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/ranges.h"

#include <algorithm>

namespace mace::dwconv {
namespace {

ptrdiff_t DivideUp(ptrdiff_t a, ptrdiff_t b) { return (a + b - 1) / b; }

}  // namespace

Ranges SplitRanges(const Shape &shape, int threads) {
  constexpr ptrdiff_t kPartsPerThread = 4;
  constexpr ptrdiff_t kOutputGrain = 64;
  constexpr ptrdiff_t kRowGrain = 7;
  const ptrdiff_t wanted = threads <= 1 ? 1 : threads * kPartsPerThread;
  Ranges r;
  r.rows = shape.batch * shape.out_h;
  r.groups = shape.in_c / shape.depth;
  r.row_part = std::max(DivideUp(r.rows, wanted), std::min(r.rows, kRowGrain));
  r.row_parts = DivideUp(r.rows, r.row_part);
  const ptrdiff_t columns = DivideUp(wanted, r.row_parts);
  const ptrdiff_t grain = DivideUp(kOutputGrain, shape.multiplier);
  r.group_part = DivideUp(DivideUp(r.groups, columns), grain) * grain;
  r.group_parts = DivideUp(r.groups, r.group_part);
  return r;
}

Range RangeOf(const Ranges &ranges, ptrdiff_t index) {
  Range range;
  range.row_begin = index / ranges.group_parts * ranges.row_part;
  range.row_end = std::min(ranges.rows, range.row_begin + ranges.row_part);
  range.group_begin = index % ranges.group_parts * ranges.group_part;
  range.group_end =
      std::min(ranges.groups, range.group_begin + ranges.group_part);
  return range;
}

}  // namespace mace::dwconv
