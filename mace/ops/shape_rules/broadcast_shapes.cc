// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/shape_rules/broadcast_shapes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mace {
namespace {

// The length of the axis that is `back` axes from the innermost one; 1 if there
// is none.
int64_t DimFromBack(const Shape &shape, size_t back) {
  return back < shape.rank() ? shape[shape.rank() - 1 - back] : 1;
}

}  // namespace

bool BroadcastShapes(const Shape &a, const Shape &b, Shape *output) {
  const size_t rank = std::max(a.rank(), b.rank());
  *output = Shape();
  for (size_t back = rank; back-- > 0;) {
    const int64_t x = DimFromBack(a, back);
    const int64_t y = DimFromBack(b, back);
    if (x != y && x != 1 && y != 1) return false;
    output->Append(x == 1 ? y : x);
  }
  return true;
}

bool MatMulShape(const Shape &a,
                 const Shape &b,
                 bool transpose_a,
                 bool transpose_b,
                 Shape *output) {
  if (a.rank() < 2 || b.rank() < 2) return false;
  const size_t last_a = a.rank() - 1;
  const size_t last_b = b.rank() - 1;
  const int64_t depth = a[transpose_a ? last_a - 1 : last_a];
  if (depth != b[transpose_b ? last_b : last_b - 1]) return false;
  if (!BroadcastShapes(Shape(a.begin(), last_a - 1),
                       Shape(b.begin(), last_b - 1), output)) {
    return false;
  }
  output->Append(a[transpose_a ? last_a : last_a - 1]);
  output->Append(b[transpose_b ? last_b - 1 : last_b]);
  return true;
}

}  // namespace mace
