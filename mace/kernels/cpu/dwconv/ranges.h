// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How a depthwise convolution is shared out: a few ranges per thread, all about
// as large. Some rows of outputs, whose neighbours share input; where there are
// too few rows also some cache lines of outputs, no fewer than 4: what is left
// over from whole vectors costs as much as many of them.

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

// Number `index` of ranges.count().
Range RangeOf(const Ranges &ranges, ptrdiff_t index);

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_RANGES_H_
