// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Divides a depthwise convolution into a few ranges of about equal size per
// thread. A range has some rows of outputs, since adjacent rows share input; if
// there are too few rows, outputs are also divided, into parts of at least 4
// cache lines: a remainder smaller than a vector costs as much as many whole
// vectors.

#ifndef MACE_KERNELS_CPU_DWCONV_RANGES_H_
#define MACE_KERNELS_CPU_DWCONV_RANGES_H_

#include <cstddef>

#include "mace/kernels/cpu/dwconv/dwconv.h"

namespace mace::dwconv {

struct Ranges {
  ptrdiff_t rows = 0;
  ptrdiff_t groups = 0;
  ptrdiff_t row_parts = 0;
  ptrdiff_t group_parts = 0;
  ptrdiff_t group_unit = 1;  // parts begin at multiples of it

  ptrdiff_t count() const { return row_parts * group_parts; }
};

Ranges SplitRanges(const Shape &shape, int threads);

// The range number `index` of ranges.count().
Range RangeOf(const Ranges &ranges, ptrdiff_t index);

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_RANGES_H_
