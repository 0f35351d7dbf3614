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
  constexpr ptrdiff_t kMinRows = 7;
  constexpr ptrdiff_t kMinOutputs = 64;
  constexpr ptrdiff_t kLineOutputs = 16;
  const ptrdiff_t wanted = threads <= 1 ? 1 : threads * kPartsPerThread;
  Ranges r;
  r.rows = shape.batch * shape.out_h;
  r.groups = shape.groups;
  r.row_parts = std::min(wanted, DivideUp(r.rows, kMinRows));
  const ptrdiff_t most = shape.out_c / kMinOutputs;
  r.group_parts =
      std::min(DivideUp(wanted, r.row_parts), std::max<ptrdiff_t>(most, 1));
  r.group_unit = DivideUp(kLineOutputs, shape.out_c / shape.groups);
  return r;
}

Range RangeOf(const Ranges &ranges, ptrdiff_t index) {
  const ptrdiff_t row = index / ranges.group_parts;
  const ptrdiff_t part = index % ranges.group_parts;
  const ptrdiff_t units = DivideUp(ranges.groups, ranges.group_unit);
  const auto group = [&](ptrdiff_t at) {
    return std::min(ranges.groups,
                    at * units / ranges.group_parts * ranges.group_unit);
  };
  Range range;
  range.row_begin = row * ranges.rows / ranges.row_parts;
  range.row_end = (row + 1) * ranges.rows / ranges.row_parts;
  range.group_begin = group(part);
  range.group_end = group(part + 1);
  return range;
}

}  // namespace mace::dwconv
