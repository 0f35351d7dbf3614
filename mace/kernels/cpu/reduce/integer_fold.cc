// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/reduce/integer_fold.h"

// Vectors of 64 bits gain little, and five loops of them are large.
#define MACE_PLAIN_LOOP _Pragma("clang loop vectorize(disable) unroll(disable)")

namespace mace::reduce {
namespace {

int64_t FirstOf(Fold fold) {
  switch (fold) {
    case Fold::kMax:
      return INT32_MIN;
    case Fold::kMin:
      return INT32_MAX;
    case Fold::kProduct:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

IntegerFold::IntegerFold(Fold fold) : fold_(fold) {
  const int64_t first = FirstOf(fold);
  MACE_PLAIN_LOOP for (int64_t &result : results_) result = first;
}

void IntegerFold::Rows(const int32_t *x,
                       int64_t stride,
                       int64_t rows,
                       int64_t columns) {
  const auto each = [&](auto fold) {
    for (int64_t r = 0; r < rows; ++r, x += stride) {
      MACE_PLAIN_LOOP for (int64_t c = 0; c < columns; ++c) {
        fold(c, int64_t{x[c]});
      }
    }
  };
  switch (fold_) {
    case Fold::kMax:
      return each([&](int64_t c, int64_t v) {
        if (v > results_[c]) results_[c] = v;
      });
    case Fold::kMin:
      return each([&](int64_t c, int64_t v) {
        if (v < results_[c]) results_[c] = v;
      });
    case Fold::kProduct:
      return each([&](int64_t c, int64_t v) {
        const bool lost = __builtin_mul_overflow(results_[c], v, &results_[c]);
        exceeds_[c] = v != 0 && (exceeds_[c] || lost);
      });
    case Fold::kSumSquare:
      return each([&](int64_t c, int64_t v) {
        exceeds_[c] |= __builtin_add_overflow(results_[c], v * v, &results_[c]);
      });
    case Fold::kSum:
      return each([&](int64_t c, int64_t v) { results_[c] += v; });
  }
}

bool IntegerFold::Store(int64_t columns, int32_t *y) const {
  bool fits = true;
  MACE_PLAIN_LOOP for (int64_t c = 0; c < columns; ++c) {
    y[c] = static_cast<int32_t>(static_cast<uint64_t>(results_[c]));
    fits &= !exceeds_[c] && y[c] == results_[c];
  }
  return fits;
}

}  // namespace mace::reduce
