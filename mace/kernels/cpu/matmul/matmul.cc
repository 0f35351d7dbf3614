// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/matmul/matmul.h"

namespace mace::matmul {

bool SizesOf(const Shape &a,
             const Shape &b,
             bool transposed_a,
             bool transposed_b,
             Sizes *sizes) {
  if (a.rank() < 2 || b.rank() < 2) return false;
  *sizes = Sizes();
  sizes->transposed_a = transposed_a;
  sizes->transposed_b = transposed_b;
  sizes->rows = a[a.rank() - (transposed_a ? 1 : 2)];
  sizes->depth = a[a.rank() - (transposed_a ? 2 : 1)];
  sizes->columns = b[b.rank() - (transposed_b ? 2 : 1)];
  sizes->a_matrices = a.Elements(0, a.rank() - 2);
  sizes->b_matrices = b.Elements(0, b.rank() - 2);
  return sizes->depth == b[b.rank() - (transposed_b ? 1 : 2)] &&
         BroadcastMatrices(a, b, &sizes->batches);
}

}  // namespace mace::matmul
