// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::RoundToHalf;
using op_test::Value;

double Apply(const std::string &kind, double x) {
  constexpr double kAlpha = 0.25;
  constexpr double kBeta = 0.5;
  const double sigmoid = 1 / (1 + std::exp(-x));
  if (kind == "NONE") return x;
  if (kind == "RELU") return std::fmax(x, 0);
  if (kind == "RELUX") return std::fmin(std::fmax(x, 0), 3.0);
  if (kind == "LEAKY_RELU") return x < 0 ? kAlpha * x : x;
  if (kind == "SIGMOID") return sigmoid;
  if (kind == "TANH") return std::tanh(x);
  if (kind == "ELU") return x < 0 ? kAlpha * std::expm1(x) : x;
  if (kind == "HARD_SIGMOID") {
    return std::fmin(std::fmax(kAlpha * x + kBeta, 0), 1);
  }
  if (kind == "HARD_SWISH") {
    return x * std::fmin(std::fmax(x / 6 + 0.5, 0), 1);
  }
  if (kind == "SWISH") return x * sigmoid;
  if (kind == "GELU") return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  if (kind == "SOFTPLUS") return std::log1p(std::exp(x));
  if (kind == "SOFTSIGN") return x / (1 + std::fabs(x));
  if (kind == "GELU_TANH") {
    const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(u));
  }
  ADD_FAILURE() << kind;
  return 0;
}

TEST(ActivationOpTest, EveryKindMatchesItsFormula) {
  Random random(5);
  for (const char *kind : {"NONE", "RELU", "RELUX", "LEAKY_RELU", "SIGMOID",
                           "TANH", "ELU", "HARD_SIGMOID", "HARD_SWISH", "SWISH",
                           "GELU", "SOFTPLUS", "SOFTSIGN", "GELU_TANH"}) {
    SCOPED_TRACE(kind);
    for (const Shape &shape :
         {Shape{}, Shape{7}, Shape{2, 3, 5, 33}, Shape{40000}, Shape{0, 3}}) {
      const Value x = random.Floats(shape, -8, 8);
      std::vector<double> expected;
      for (const float v : x.floats()) expected.push_back(Apply(kind, v));
      // The kernels' own test has a much smaller error bound for each function.
      ExpectFloats(OpCase("Activation")
                       .Input(x)
                       .String("activation", kind)
                       .Float("activation_limit", 3)
                       .Float("activation_alpha", 0.25f)
                       .Float("activation_beta", 0.5f),
                   shape, expected, {1e-6, 1e-6});
      if (kind == std::string("NONE")) continue;
      for (const bool bf16 : {false, true}) {  // computed in float
        const Value half = RoundToHalf(x, bf16);
        expected.clear();
        for (const float v : half.floats()) expected.push_back(Apply(kind, v));
        ExpectFloats(OpCase("Activation")
                         .Input(half)
                         .ComputeIn(op_test::HalfPrecision(bf16))
                         .String("activation", kind)
                         .Float("activation_limit", 3)
                         .Float("activation_alpha", 0.25f)
                         .Float("activation_beta", 0.5f),
                     shape, expected, {1e-6, op_test::HalfError(bf16)});
      }
    }
  }
}

TEST(ActivationOpTest, PreluByChannelAndShared) {
  Random random(6);
  for (const int64_t slopes : {1, 19, 1100}) {
    const Shape shape = {2, 3, slopes == 1 ? 19 : slopes};
    // Exact in fp16 as well.
    const Value x = RoundToHalf(random.Floats(shape), true);
    const Value slope = random.Floats({slopes});
    std::vector<double> expected;
    for (size_t i = 0; i < x.floats().size(); ++i) {
      const float v = x.floats()[i];
      expected.push_back(v < 0 ? v * slope.floats()[i % slopes] : v);
    }
    const OpCase prelu = OpCase("Activation")
                             .Input(x)
                             .Constant(slope)
                             .String("activation", "PRELU");
    ExpectFloats(prelu, shape, expected, {0, 1e-7});
    for (const bool bf16 : {false, true}) {
      ExpectFloats(OpCase(prelu).ComputeIn(op_test::HalfPrecision(bf16)), shape,
                   expected, {1e-7, op_test::HalfError(bf16)});
    }
  }
}

TEST(ActivationOpTest, PreluOfNoChannelsHasNoSlopes) {
  ExpectFloats(OpCase("Activation")
                   .Input(Value::Floats({2, 3, 0}, {}))
                   .Constant(Value::Floats({0}, {}))
                   .String("activation", "PRELU"),
               {2, 3, 0}, {}, {0, 0});
  ExpectError(OpCase("Activation")
                  .Input(Value::Floats({2, 3}, std::vector<float>(6)))
                  .Constant(Value::Floats({0}, {}))
                  .String("activation", "PRELU"),
              MaceStatus::MACE_INVALID_ARGS, "0 values");
}

TEST(ActivationOpTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const Value slope = Value::Floats({2}, {1, 2});
  ExpectError(OpCase("Activation").Input(x).String("activation", "PRELU"),
              MaceStatus::MACE_INVALID_ARGS, "needs the input slope");
  ExpectError(OpCase("Activation").Input(x).Constant(slope),
              MaceStatus::MACE_INVALID_ARGS, "only PRELU");
  ExpectError(OpCase("Activation")
                  .Input(x)
                  .Constant(slope)
                  .String("activation", "PRELU"),
              MaceStatus::MACE_INVALID_ARGS, "2 values");
  ExpectError(OpCase("Activation").Input(x).String("activation", "RELU6"),
              MaceStatus::MACE_INVALID_ARGS, "RELUX");
}

struct Tested {
  const char *mode;
  double (*reference)(double);
  float low;
  float high;
};

constexpr Tested kModes[] = {
    {"ASIN", &std::asin, -1, 1},   {"ACOS", &std::acos, -1, 1},
    {"ATAN", &std::atan, -9, 9},   {"SINH", &std::sinh, -9, 9},
    {"COSH", &std::cosh, -9, 9},   {"ASINH", &std::asinh, -9, 9},
    {"ACOSH", &std::acosh, 1, 99}, {"ATANH", &std::atanh, -1, 1},
};

// trig_test measures errors of up to 4 ulp.
TEST(TrigonometricTest, EveryMode) {
  Random random(1);
  for (const Tested &tested : kModes) {
    for (const Shape &shape :
         {Shape{}, Shape{7}, Shape{3, 0}, Shape{2, 3, 5, 33}, Shape{9, 999}}) {
      const Value x = random.Floats(shape, tested.low, tested.high);
      std::vector<double> expected;
      for (const float v : x.floats()) expected.push_back(tested.reference(v));
      ExpectFloats(OpCase("Trigonometric").Input(x).String("mode", tested.mode),
                   shape, expected, {0x1p-126, 4 * 0x1p-23});
    }
  }
}

TEST(TrigonometricTest, OutsideTheDomain) {
  const Value x = Value::Floats({2}, {2, -2});
  for (const char *mode : {"ASIN", "ACOS", "ATANH"}) {
    ExpectFloats(OpCase("Trigonometric").Input(x).String("mode", mode), {2},
                 {NAN, NAN}, {0, 0});
  }
}

TEST(TrigonometricTest, Errors) {
  const Value x = Value::Floats({1}, {0});
  ExpectError(OpCase("Trigonometric").Input(x), MaceStatus::MACE_INVALID_ARGS,
              "mode");
  ExpectError(OpCase("Trigonometric").Input(x).String("mode", "SEC"),
              MaceStatus::MACE_INVALID_ARGS, "SEC");
}

}  // namespace
}  // namespace mace
