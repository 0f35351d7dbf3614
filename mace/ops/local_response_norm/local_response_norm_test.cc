// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::ExpectValues;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Tolerance;
using op_test::Value;

std::vector<double> Reference(const Value &x,
                              int64_t before,
                              int64_t after,
                              double alpha,
                              double beta,
                              double bias) {
  const std::vector<float> v = x.floats();
  const int64_t channels = x.shape.back();
  std::vector<double> y(v.size());
  for (size_t i = 0; i < v.size(); ++i) {
    const int64_t c = static_cast<int64_t>(i) % channels;
    const int64_t pixel = static_cast<int64_t>(i) - c;
    double sum = 0;
    for (int64_t k = c - before; k <= c + after; ++k) {
      if (k < 0 || k >= channels) continue;
      sum += double{v[pixel + k]} * v[pixel + k];
    }
    y[i] = v[i] / std::pow(bias + alpha * sum, beta);
  }
  return y;
}

TEST(LocalResponseNormTest, MatchesTheReference) {
  Random random(2);
  for (const int64_t channels : {1, 3, 5, 16, 31, 64}) {
    for (const int64_t before : {0, 1, 2, 5}) {
      for (const int64_t after : {0, 2, 3}) {
        for (const float beta : {0.75f, 0.5f, 1.0f, 0.6f, -0.3f}) {
          const Shape shape = {2, 3, 2, channels};
          const Value x = random.Floats(shape, -3, 3);
          ExpectFloats(OpCase("LocalResponseNorm")
                           .Input(x)
                           .Int("before", before)
                           .Int("after", after)
                           .Float("alpha", 0.3f)
                           .Float("beta", beta)
                           .Float("bias", 1.5f),
                       shape, Reference(x, before, after, 0.3f, beta, 1.5),
                       {0, 2e-6});
        }
      }
    }
  }
}

TEST(LocalResponseNormTest, WindowBeyondAllChannels) {
  Random random(3);
  const Value x = random.Floats({1, 1, 2, 4});
  ExpectFloats(OpCase("LocalResponseNorm")
                   .Input(x)
                   .Int("before", 65535)
                   .Int("after", 65535)
                   .Float("alpha", 1)
                   .Float("beta", 0.75f),
               {1, 1, 2, 4}, Reference(x, 100, 100, 1, 0.75, 1), {0, 2e-6});
}

TEST(LocalResponseNormTest, Errors) {
  const OpCase good = OpCase("LocalResponseNorm")
                          .Input(Value::Floats({3}, {1, 2, 3}))
                          .Int("before", 1)
                          .Int("after", 1)
                          .Float("alpha", 1)
                          .Float("beta", 1);
  ExpectError(good, MaceStatus::MACE_INVALID_ARGS, "[N, H, W, C]");
}

}  // namespace
}  // namespace mace
