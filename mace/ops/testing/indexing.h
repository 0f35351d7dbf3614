// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Plain loops over tensors, for references in tests.

#ifndef MACE_OPS_TESTING_INDEXING_H_
#define MACE_OPS_TESTING_INDEXING_H_

#include <cstdint>
#include <vector>

#include "mace/core/base/shape.h"

namespace mace::op_test {

using Index = std::vector<int64_t>;

// Calls f(index) for every element, in row-major order.
template <typename F>
void ForEachIndex(const Shape &shape, F f) {
  if (shape.Elements() == 0) return;
  Index index(shape.rank(), 0);
  for (;;) {
    f(index);
    size_t axis = shape.rank();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) {
      index[--axis] = 0;
    }
    if (axis == 0) return;
  }
}

// The position of an index in a dense tensor. Any index is valid for axes of
// length 1, and leading axes that the shape does not have are ignored: NumPy's
// broadcasting.
inline int64_t Flat(const Shape &shape, const Index &index) {
  int64_t flat = 0;
  const size_t skip = index.size() - shape.rank();
  for (size_t i = 0; i < shape.rank(); ++i) {
    flat = flat * shape[i] + (shape[i] == 1 ? 0 : index[skip + i]);
  }
  return flat;
}

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_INDEXING_H_
