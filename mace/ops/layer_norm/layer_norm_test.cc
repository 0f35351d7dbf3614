// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::RoundToHalf;
using op_test::Value;

struct Affine {
  std::vector<float> scale;   // empty: 1
  std::vector<float> offset;  // empty: 0
};

std::vector<double> Reference(const Value &x,
                              const Affine &affine,
                              double epsilon,
                              bool subtract_mean) {
  const std::vector<float> v = x.floats();
  const auto n = static_cast<size_t>(x.shape.back());
  std::vector<double> y(v.size());
  for (size_t first = 0; first < v.size(); first += n) {
    double mean = 0;
    double squares = 0;
    if (subtract_mean) {
      for (size_t i = 0; i < n; ++i) mean += v[first + i];
      mean /= static_cast<double>(n);
    }
    for (size_t i = 0; i < n; ++i) {
      squares += (v[first + i] - mean) * (v[first + i] - mean);
    }
    const double factor =
        1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    for (size_t i = 0; i < n; ++i) {
      y[first + i] = (v[first + i] - mean) * factor *
                         (affine.scale.empty() ? 1 : affine.scale[i]) +
                     (affine.offset.empty() ? 0 : affine.offset[i]);
    }
  }
  return y;
}

OpCase MakeCase(const Value &x, bool subtract_mean) {
  return OpCase("LayerNorm")
      .Input(x)
      .Float("epsilon", 1e-3f)
      .Int("subtract_mean", subtract_mean ? 1 : 0);
}

TEST(LayerNormTest, MatchesTheReference) {
  Random random(91);
  for (const int64_t n : {1, 3, 8, 17, 64, 768}) {
    for (const Shape &shape :
         {Shape{n}, Shape{5, n}, Shape{2, 9, n}, Shape{1, 3, 4, n}}) {
      for (const bool subtract_mean : {false, true}) {
        const Value x = random.Floats(shape, -3, 2);
        const Value scale = random.Floats({n});
        const Value offset = random.Floats({n});
        // Rounding errors of results up to 30; they are larger if a row is
        // nearly constant and the factor is therefore large.
        ExpectFloats(
            MakeCase(x, subtract_mean).Constant(scale).Constant(offset), shape,
            Reference(x, {scale.floats(), offset.floats()}, 1e-3f,
                      subtract_mean),
            {1e-5, 2e-6});
        ExpectFloats(MakeCase(x, subtract_mean).Constant(scale), shape,
                     Reference(x, {scale.floats(), {}}, 1e-3f, subtract_mean),
                     {1e-5, 2e-6});
        ExpectFloats(MakeCase(x, subtract_mean), shape,
                     Reference(x, {}, 1e-3f, subtract_mean), {1e-5, 2e-6});
      }
    }
  }
}

TEST(LayerNormTest, ComputesInFloatForSixteenBits) {
  Random random(92);
  for (const bool bf16 : {false, true}) {
    for (const int64_t n : {5, 64, 700}) {
      const Shape shape = {7, n};
      const Value x = RoundToHalf(random.Floats(shape, -3, 2), bf16);
      const Value scale = random.Floats({n});
      const Value offset = random.Floats({n});
      ExpectFloats(MakeCase(x, true).Constant(scale).Constant(offset).ComputeIn(
                       op_test::HalfPrecision(bf16)),
                   shape,
                   Reference(x, {scale.floats(), offset.floats()}, 1e-3f, true),
                   {1e-5, op_test::HalfError(bf16)});
    }
  }
}

// The mean of squares minus the square of the mean would have no correct digit.
TEST(LayerNormTest, KeepsSmallDeviationsFromLargeMeans) {
  Random random(93);
  const Shape shape = {3, 1000};
  const Value x = random.Floats(shape, 9999, 10001);
  ExpectFloats(MakeCase(x, true), shape, Reference(x, {}, 1e-3f, true),
               {2e-5, 1e-5});
}

TEST(LayerNormTest, NothingOfNothing) {
  ExpectFloats(MakeCase(Value::Floats({2, 0}, {}), true), {2, 0}, {}, {0, 0});
  ExpectFloats(MakeCase(Value::Floats({0, 3}, {}), true), {0, 3}, {}, {0, 0});
}

TEST(LayerNormTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const Value two = Value::Floats({2}, {1, 2});
  const Value three = Value::Floats({3}, {1, 2, 3});
  ExpectError(MakeCase(x, true).Constant(two), MaceStatus::MACE_INVALID_ARGS,
              "scale has the shape [2]");
  ExpectError(MakeCase(x, true).Constant(three).Constant(two),
              MaceStatus::MACE_INVALID_ARGS, "offset has the shape [2]");
  ExpectError(MakeCase(Value::Floats({}, {1}), true),
              MaceStatus::MACE_INVALID_ARGS, "scalar");
}

}  // namespace
}  // namespace mace
