// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How a depthwise convolution is shared out: a few ranges per thread. Some rows
// of outputs, whose neighbours share input; whole cache lines of outputs where
// there are too few rows.

#ifndef MACE_KERNELS_CPU_DWCONV_RANGES_H_
#define MACE_KERNELS_CPU_DWCONV_RANGES_H_

#include <cstddef>

#include "mace/kernels/cpu/dwconv/dwconv.h"

namespace mace::dwconv {

struct Ranges {
  ptrdiff_t rows = 0;
  ptrdiff_t groups = 0;
  ptrdiff_t row_part = 1;  // rows of a range
  ptrdiff_t row_parts = 0;
  ptrdiff_t group_part = 1;
  ptrdiff_t group_parts = 0;

  ptrdiff_t count() const { return row_parts * group_parts; }
};

Ranges SplitRanges(const Shape &shape, int threads);

// Number `index` of ranges.count().
Range RangeOf(const Ranges &ranges, ptrdiff_t index);

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_RANGES_H_
