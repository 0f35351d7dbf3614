// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/reduce/reduce.h"

#include <cmath>

#include "mace/kernels/cpu/isa_table.h"

// Vectors, but no longer bodies: results are few.
#define MACE_SHORT_LOOP \
  _Pragma("clang loop unroll(disable) interleave(disable)")

namespace mace::reduce {

MACE_DECLARE_TABLES(BASE, Kernels, kKernels)

const Kernels *KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kKernels);
}

void Fill(float value, size_t n, float *y) {
  MACE_SHORT_LOOP for (size_t i = 0; i < n; ++i) y[i] = value;
}

void Divide(float divisor, size_t n, float *y) {
  MACE_SHORT_LOOP for (size_t i = 0; i < n; ++i) y[i] /= divisor;
}

void TakeRoots(size_t n, float *y) {
  MACE_SHORT_LOOP for (size_t i = 0; i < n; ++i) y[i] = std::sqrt(y[i]);
}

}  // namespace mace::reduce
