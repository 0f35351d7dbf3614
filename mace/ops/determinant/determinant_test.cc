// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Laplace's expansion along the first row of the rows from `row` on, without
// the columns of `used`.
double Expand(const float *m, size_t n, size_t row, unsigned used) {
  if (row == n) return 1;
  double sum = 0;
  double sign = 1;
  for (size_t c = 0; c < n; ++c) {
    if ((used >> c & 1) != 0) continue;
    sum +=
        sign * double{m[row * n + c]} * Expand(m, n, row + 1, used | 1u << c);
    sign = -sign;
  }
  return sum;
}

TEST(DeterminantTest, EqualsLaplacesExpansion) {
  Random random(3);
  for (const Shape &shape :
       {Shape{1, 1}, Shape{2, 2}, Shape{5, 3, 3}, Shape{2, 3, 6, 6},
        Shape{0, 2, 2}, Shape{2, 0, 0}}) {
    const Value x = random.Floats(shape);
    const auto n = static_cast<size_t>(shape.back());
    const Shape output(shape.begin(), shape.rank() - 2);
    std::vector<double> expected;
    for (size_t i = 0; i < static_cast<size_t>(output.Elements()); ++i) {
      expected.push_back(n == 0 ? 1 : Expand(&x.floats()[i * n * n], n, 0, 0));
    }
    // Computed in double, then rounded.
    ExpectFloats(OpCase("Determinant").Input(x), output, expected,
                 {1e-12, 0x1p-23});
  }
}

TEST(DeterminantTest, SingularMatricesAndSwappedRows) {
  ExpectFloats(OpCase("Determinant")
                   .Input(Value::Floats({3, 2, 2}, {0, 1, 1, 0,  //
                                                    1, 2, 2, 4,  //
                                                    0, 0, 0, 0})),
               {3}, {-1, 0, 0}, {0, 0});
}

TEST(DeterminantTest, Errors) {
  ExpectError(OpCase("Determinant").Input(Value::Floats({2}, {1, 2})),
              MaceStatus::MACE_INVALID_ARGS, "no square matrices");
  ExpectError(OpCase("Determinant").Input(Value::Floats({1, 2}, {1, 2})),
              MaceStatus::MACE_INVALID_ARGS,
              "an input of shape [1, 2] has no square matrices");
}

}  // namespace
}  // namespace mace
