// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares the products with the definition of their arithmetic
// (docs/reference/quantization.md), to the bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::Random;
using op_test::RunOptions;
using op_test::Value;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Weights {
  int64_t depth = 0;
  int64_t columns = 0;
  std::vector<int32_t> q;      // [depth][columns]
  std::vector<float> scales;   // one, or [columns]
  std::vector<int32_t> zeros;  // likewise, or none

  Value value() const {
    return Value::Bytes(DataType::kInt8, {depth, columns}, q);
  }
  float Scale(int64_t n) const {
    return scales[scales.size() == 1 ? 0 : static_cast<size_t>(n)];
  }
  int64_t Zero(int64_t n) const {
    if (zeros.empty()) return 0;
    return zeros[zeros.size() == 1 ? 0 : static_cast<size_t>(n)];
  }
};

enum class Scales { kOne, kOneAndZero, kColumns, kColumnsAndZeros };

Weights RandomWeights(Random *random,
                      int64_t depth,
                      int64_t columns,
                      Scales scales,
                      int32_t least = -127) {
  Weights w;
  w.depth = depth;
  w.columns = columns;
  w.q = random->Ints({depth, columns}, least, 127).ints();
  const bool one = scales == Scales::kOne || scales == Scales::kOneAndZero;
  const Shape shape = {one ? 1 : columns};
  w.scales = random->Floats(shape, 0.001f, 0.02f).floats();
  if (scales == Scales::kOneAndZero || scales == Scales::kColumnsAndZeros) {
    w.zeros = random->Ints(shape, -128, 127).ints();
  }
  return w;
}

struct Scale {
  float scale;
  int64_t zero;
};

Scale ScaleOf(const float *x, int64_t count) {
  float low = 0;
  float high = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (!std::isfinite(x[k])) return {kNan, 0};
    low = std::min(low, x[k]);
    high = std::max(high, x[k]);
  }
  const float span = high - low;
  if (!std::isfinite(span)) return {kNan, 0};
  if (span < 0x1p-100f) return {1.0f, 0};
  const float scale = span / 255.0f;
  return {scale, std::clamp<int64_t>(std::llrint(-low / scale), 0, 255)};
}

// Without an activation. `volatile` keeps the compiler from fusing.
std::vector<float> Multiply(const std::vector<float> &x,
                            const Weights &w,
                            const std::vector<float> &bias,
                            const std::vector<float> &residual,
                            bool whole) {
  const int64_t rows = static_cast<int64_t>(x.size()) / w.depth;
  std::vector<float> y;
  for (int64_t m = 0; m < rows; ++m) {
    const float *row = x.data() + m * w.depth;
    const Scale s =
        whole ? ScaleOf(x.data(), rows * w.depth) : ScaleOf(row, w.depth);
    std::vector<int64_t> q;
    for (int64_t k = 0; k < w.depth; ++k) {
      const float steps = row[k] / s.scale;
      q.push_back(std::isnan(steps) ? 0
                                    : std::clamp<int64_t>(
                                          std::llrint(steps) + s.zero, 0, 255));
    }
    for (int64_t n = 0; n < w.columns; ++n) {
      int64_t sum = 0;
      for (int64_t k = 0; k < w.depth; ++k) {
        sum += (q[static_cast<size_t>(k)] - s.zero) *
               (w.q[static_cast<size_t>(k * w.columns + n)] - w.Zero(n));
      }
      const volatile float factor = s.scale * w.Scale(n);
      const volatile float product =
          static_cast<float>(static_cast<int32_t>(sum)) * factor;
      float result =
          product + (bias.empty() ? 0.0f : bias[static_cast<size_t>(n)]);
      if (!residual.empty()) result = result + residual[y.size()];
      y.push_back(result);
    }
  }
  return y;
}

OpCase CaseOf(const Value &x, const Weights &w, bool whole = false) {
  OpCase op_case("DynamicQuantizeMatMul");
  op_case.Input(x).PackedMatrices(w.value()).Constant(
      Value::Floats({static_cast<int64_t>(w.scales.size())}, w.scales));
  if (w.zeros.empty()) {
    op_case.NoInput();
  } else {
    const auto count = static_cast<int64_t>(w.zeros.size());
    op_case.Constant(Value::Bytes(DataType::kInt8, {count}, w.zeros));
  }
  return op_case.String("range", whole ? "TENSOR" : "ROW");
}

void Check(int64_t rows,
           int64_t depth,
           int64_t columns,
           Scales scales,
           int32_t least = -127) {
  Random random(9);
  const Weights w = RandomWeights(&random, depth, columns, scales, least);
  std::vector<float> x;
  for (int64_t m = 0; m < rows; ++m) {
    const float wide = random.Float(0.01f, 30.0f);
    for (int64_t k = 0; k < depth; ++k) {
      x.push_back(random.Float(-0.7f, 1.0f) * wide);
    }
  }
  const Value input = Value::Floats({rows, depth}, x);
  const Value bias = random.Floats({columns}, -3.0f, 3.0f);
  const Value residual = random.Floats({rows, columns}, -3.0f, 3.0f);
  for (bool whole : {false, true}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << depth << " x "
                                    << columns << (whole ? " whole" : ""));
    ExpectValue(CaseOf(input, w, whole),
                Value::Floats({rows, columns}, Multiply(x, w, {}, {}, whole)));
    std::vector<float> wanted =
        Multiply(x, w, bias.floats(), residual.floats(), whole);
    ExpectValue(CaseOf(input, w, whole).Constant(bias).Input(residual),
                Value::Floats({rows, columns}, wanted));
    for (float &y : wanted) y = std::min(std::max(y, 0.0f), 2.5f);
    ExpectValue(CaseOf(input, w, whole)
                    .Constant(bias)
                    .Input(residual)
                    .String("activation", "RELUX")
                    .Float("activation_limit", 2.5f),
                Value::Floats({rows, columns}, wanted));
  }
}

TEST(DynamicQuantizeMatMulTest, RowsAndColumns) {
  for (int64_t rows : {1, 2, 5, 6, 13, 25}) {
    for (int64_t columns : {1, 15, 16, 33, 64, 130}) {
      Check(rows, 24, columns, Scales::kColumns);
    }
  }
}

TEST(DynamicQuantizeMatMulTest, Depths) {
  for (int64_t depth : {1, 2, 3, 4, 5, 17, 63, 64, 257}) {
    Check(7, depth, 40, Scales::kColumns);
  }
}

TEST(DynamicQuantizeMatMulTest, ScalesAndZeroPoints) {
  for (Scales scales : {Scales::kOne, Scales::kOneAndZero, Scales::kColumns,
                        Scales::kColumnsAndZeros}) {
    Check(9, 70, 37, scales);
    Check(9, 70, 37, scales, -128);
  }
}

// Enough for many tasks.
TEST(DynamicQuantizeMatMulTest, LargeOnes) {
  Check(150, 260, 330, Scales::kColumns);
  Check(1, 3000, 700, Scales::kColumnsAndZeros);
  Check(600, 64, 48, Scales::kColumns);
}

TEST(DynamicQuantizeMatMulTest, BatchesAreRows) {
  Random random(2);
  const Weights w = RandomWeights(&random, 12, 20, Scales::kColumns);
  const Value x = random.Floats({2, 3, 12});
  ExpectValue(CaseOf(x, w), Value::Floats({2, 3, 20}, Multiply(x.floats(), w,
                                                               {}, {}, false)));
  const Value vector = random.Floats({12});
  ExpectValue(CaseOf(vector, w),
              Value::Floats({20}, Multiply(vector.floats(), w, {}, {}, false)));
}

// All of a row's numbers on one side of 0; 0 alone; and numbers that differ
// from 0 by less than a scale can say.
TEST(DynamicQuantizeMatMulTest, Ranges) {
  Random random(3);
  const Weights w = RandomWeights(&random, 4, 5, Scales::kColumns);
  const Value bias = random.Floats({5});
  const std::vector<float> x = {5,       6,        7,      8,       // 0 to 8
                                -1,      -2,       -3,     -4,      // -4 to 0
                                0,       0,        0,      0,       //
                                -0.0f,   0,        -0.0f,  0,       //
                                1e-38f,  -1e-38f,  1e-39f, 0,       //
                                3e-45f,  0,        0,      1e-31f,  //
                                1e30f,   -2e30f,   1e28f,  0,       //
                                1.7e38f, -1.6e38f, 1,      -1};
  for (bool whole : {false, true}) {
    ExpectValue(
        CaseOf(Value::Floats({8, 4}, x), w, whole).Constant(bias),
        Value::Floats({8, 5}, Multiply(x, w, bias.floats(), {}, whole)));
  }
}

// What is not finite makes no number of its row, and leaves the others alone.
TEST(DynamicQuantizeMatMulTest, NotFinite) {
  Random random(4);
  const Weights w = RandomWeights(&random, 5, 18, Scales::kColumns);
  const Value bias = random.Floats({18});
  for (float odd : {kNan, -kNan, kInf, -kInf}) {
    std::vector<float> x = random.Floats({3, 5}).floats();
    x[7] = odd;
    std::vector<double> wanted(3 * 18, kNan);
    ExpectFloats(CaseOf(Value::Floats({3, 5}, x), w, true).Constant(bias),
                 {3, 18}, wanted, {});
    const std::vector<float> others = Multiply(x, w, bias.floats(), {}, false);
    for (size_t i = 0; i < others.size(); ++i) {
      if (i / 18 != 1) wanted[i] = static_cast<double>(others[i]);
    }
    ExpectFloats(CaseOf(Value::Floats({3, 5}, x), w).Constant(bias), {3, 18},
                 wanted, {});
  }
  // Finite, but infinitely far apart.
  const std::vector<float> x = {3e38f, -3e38f, 0, 0, 1};
  const std::vector<double> none(18, kNan);
  ExpectFloats(CaseOf(Value::Floats({1, 5}, x), w).Constant(bias), {1, 18},
               none, {});
  ExpectFloats(CaseOf(Value::Floats({1, 5}, x), w)
                   .Constant(bias)
                   .String("activation", "RELUX")
                   .Float("activation_limit", 6.0f),
               {1, 18}, none, {});
}

TEST(DynamicQuantizeMatMulTest, Activations) {
  Random random(5);
  const Weights w = RandomWeights(&random, 30, 19, Scales::kColumns);
  const Value x = random.Floats({4, 30}, -2.0f, 2.0f);
  std::vector<double> wanted;
  for (float y : Multiply(x.floats(), w, {}, {}, false)) {
    wanted.push_back(std::tanh(static_cast<double>(y)));
  }
  // That of tanh (vector_math.h).
  ExpectFloats(CaseOf(x, w).String("activation", "TANH"), {4, 19}, wanted,
               {1e-6, 1e-6});
}

// The weights are used where they are.
TEST(DynamicQuantizeMatMulTest, ConstantsAreNotCopied) {
  Random random(6);
  const Weights w = RandomWeights(&random, 64, 64, Scales::kColumns);
  const OpCase op_case = CaseOf(random.Floats({3, 64}), w);
  OpSession session(op_case, RunOptions());
  const OpResult result = session.Run();
  ASSERT_TRUE(IsOk(result.status)) << result.status.information();
  EXPECT_EQ(result.init_prepared_bytes, 0u);
  EXPECT_EQ(result.prepared_bytes, 0u);
}

TEST(DynamicQuantizeMatMulTest, OtherShapesInOneSession) {
  Random random(7);
  const Weights w = RandomWeights(&random, 6, 20, Scales::kColumns);
  const OpCase op_case = CaseOf(random.Floats({2, 6}), w);
  OpSession session(op_case, RunOptions());
  for (int64_t rows : {2, 33, 1, 0, 5}) {
    auto inputs = op_case.inputs;
    inputs[0].value = random.Floats({rows, 6});
    const OpResult result = session.Run(inputs);
    ASSERT_TRUE(IsOk(result.status)) << result.status.information();
    EXPECT_EQ(result.outputs[0].floats(),
              Multiply(inputs[0].value.floats(), w, {}, {}, false));
  }
}

TEST(DynamicQuantizeMatMulTest, Errors) {
  Random random(8);
  const auto invalid = MaceStatus::MACE_INVALID_ARGS;
  const Weights w = RandomWeights(&random, 6, 4, Scales::kColumns);
  const auto input = [&](const Shape &shape) { return random.Floats(shape); };
  ExpectError(CaseOf(input({2, 5}), w), invalid,
              "input has shape [2, 5] but the weights [6, 4] take [..., 6]");
  ExpectError(CaseOf(input({2, 6}), w).Constant(input({5})), invalid,
              "bias has shape [5]; expected [4]");
  ExpectError(CaseOf(input({2, 6}), w).NoInput().Input(input({2, 5})), invalid,
              "residual has shape [2, 5] but the output [2, 4]");
  const auto with = [&](const Value &scales) {
    return OpCase("DynamicQuantizeMatMul")
        .Input(input({2, 6}))
        .PackedMatrices(w.value())
        .Constant(scales);
  };
  ExpectError(with(input({6})), invalid,
              "the scales of the weights have shape [6]; expected one number "
              "or [4]");
  ExpectError(with(input({1, 4})), invalid, "have shape [1, 4]");
  ExpectError(
      with(input({4})).Constant(Value::Bytes(DataType::kInt8, {2}, {1, 2})),
      invalid, "the zero points of the weights have shape [2]");
  ExpectError(OpCase("DynamicQuantizeMatMul")
                  .Input(input({2, 6}))
                  .Constant(w.value())
                  .Constant(input({4})),
              invalid, "convert the model again");
  ExpectError(CaseOf(input({2, 6}), w).String("activation", "PRELU"), invalid,
              "PRELU");
}

}  // namespace
}  // namespace mace
