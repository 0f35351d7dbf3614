// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::RoundToHalf;
using op_test::Tolerance;
using op_test::Value;

struct Binary {
  const char *mode;
  double (*reference)(double, double);
  Tolerance tolerance;
};

const Binary kBinary[] = {
    {"ADD", [](double a, double b) { return a + b; }, {0, 1e-7}},
    {"SUB", [](double a, double b) { return a - b; }, {0, 1e-7}},
    {"MUL", [](double a, double b) { return a * b; }, {0, 1e-7}},
    {"DIV", [](double a, double b) { return a / b; }, {0, 1e-7}},
    {"MIN", [](double a, double b) { return std::fmin(a, b); }, {}},
    {"MAX", [](double a, double b) { return std::fmax(a, b); }, {}},
    {"POW", [](double a, double b) { return std::pow(a, b); }, {0, 3e-7}},
    {"SQR_DIFF",
     [](double a, double b) { return (a - b) * (a - b); },
     {0, 3e-7}},
    {"FLOOR_DIV",
     [](double a, double b) {
       return static_cast<double>(
           std::floor(static_cast<float>(a) / static_cast<float>(b)));
     },
     {}},
    {"FLOOR_MOD",
     [](double a, double b) {
       const double m = std::fmod(a, b);
       return m != 0 && (m < 0) != (b < 0) ? m + b : m;
     },
     {1e-6, 0}},
};

struct Pattern {
  Shape a, b, output;
};

std::vector<Pattern> Patterns() {
  return {
      {{}, {}, {}},
      {{1}, {1, 1}, {1, 1}},
      {{5}, {5}, {5}},
      {{2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}},
      {{2, 3, 4, 37}, {37}, {2, 3, 4, 37}},  // per channel
      {{37}, {2, 3, 4, 37}, {2, 3, 4, 37}},
      {{2, 3, 4, 5}, {}, {2, 3, 4, 5}},  // scalar
      {{1}, {40000}, {40000}},
      {{2, 1, 1, 17}, {2, 3, 4, 17}, {2, 3, 4, 17}},  // squeeze-and-excite
      {{2, 3, 4, 1}, {2, 3, 4, 9}, {2, 3, 4, 9}},     // per pixel
      {{3, 1}, {1, 20}, {3, 20}},                     // outer
      {{2, 1, 3, 1, 5}, {4, 1, 6, 1}, {2, 4, 3, 6, 5}},
      {{2, 40000}, {2, 1}, {2, 40000}},  // rows in blocks
      {{1, 3, 1, 2, 1, 2, 1, 2},
       {2, 1, 2, 1, 3, 1, 2, 1},
       {2, 3, 2, 2, 3, 2, 2, 2}},
      {{0, 3}, {3}, {0, 3}},
  };
}

TEST(EltwiseOpTest, BroadcastsAsNumPyDoes) {
  Random random(7);
  for (const Pattern &pattern : Patterns()) {
    SCOPED_TRACE(pattern.a.ToString() + " " + pattern.b.ToString());
    for (const Binary &binary : kBinary) {
      SCOPED_TRACE(binary.mode);
      const bool power = std::string(binary.mode) == "POW";
      const Value a = random.Floats(pattern.a, power ? 0.1f : -4, 4);
      const Value b = random.Floats(pattern.b, -4, 4);
      const std::vector<float> a_values = a.floats();
      const std::vector<float> b_values = b.floats();
      std::vector<double> expected;
      ForEachIndex(pattern.output, [&](const Index &index) {
        expected.push_back(binary.reference(a_values[Flat(pattern.a, index)],
                                            b_values[Flat(pattern.b, index)]));
      });
      if (pattern.output.Elements() > 1000 && power) continue;
      ExpectFloats(
          OpCase("Eltwise").Input(a).Input(b).String("mode", binary.mode),
          pattern.output, expected, binary.tolerance);
    }
  }
}

// 16-bit operands and results, computed in float.
void ExpectInHalf(const Pattern &pattern,
                  const Binary &binary,
                  bool bf16,
                  Random *random) {
  const Value a = RoundToHalf(random->Floats(pattern.a, -4, 4), bf16);
  const Value b = RoundToHalf(random->Floats(pattern.b, -4, 4), bf16);
  const std::vector<float> a_values = a.floats();
  const std::vector<float> b_values = b.floats();
  std::vector<double> expected;
  ForEachIndex(pattern.output, [&](const Index &index) {
    expected.push_back(binary.reference(a_values[Flat(pattern.a, index)],
                                        b_values[Flat(pattern.b, index)]));
  });
  // Constants remain float32.
  for (OpCase operands : {OpCase("Eltwise").Input(a).Input(b),
                          OpCase("Eltwise").Input(a).Constant(b),
                          OpCase("Eltwise").Constant(a).Input(b)}) {
    ExpectFloats(operands.ComputeIn(op_test::HalfPrecision(bf16))
                     .String("mode", binary.mode),
                 pattern.output, expected, {1e-6, op_test::HalfError(bf16)});
  }
}

TEST(EltwiseOpTest, BroadcastsNumbersOf16Bits) {
  Random random(17);
  std::vector<Pattern> patterns = Patterns();
  patterns.push_back({{3, 1100}, {1100}, {3, 1100}});
  patterns.push_back({{3, 1}, {3, 1100}, {3, 1100}});
  // Several rows in a block
  patterns.push_back({{2, 5, 9, 48}, {2, 1, 1, 48}, {2, 5, 9, 48}});
  patterns.push_back({{45, 48}, {45, 1}, {45, 48}});
  patterns.push_back({{19, 2, 48}, {19, 1, 48}, {19, 2, 48}});
  patterns.push_back({{2, 19, 30}, {2, 19, 1}, {2, 19, 30}});
  for (const Pattern &pattern : patterns) {
    SCOPED_TRACE(pattern.a.ToString() + " " + pattern.b.ToString());
    for (const Binary &binary : kBinary) {
      const std::string mode = binary.mode;
      if (mode != "ADD" && mode != "SUB" && mode != "MUL" && mode != "MAX") {
        continue;  // other modes could exceed the range
      }
      SCOPED_TRACE(mode);
      ExpectInHalf(pattern, binary, false, &random);
      ExpectInHalf(pattern, binary, true, &random);
    }
  }
}

TEST(EltwiseOpTest, ComparesToBool) {
  Random random(8);
  struct Comparison {
    const char *mode;
    bool (*reference)(float, float);
  };
  const Comparison comparisons[] = {
      {"EQUAL", [](float a, float b) { return a == b; }},
      {"NOT_EQUAL", [](float a, float b) { return a != b; }},
      {"LESS", [](float a, float b) { return a < b; }},
      {"LESS_EQUAL", [](float a, float b) { return a <= b; }},
      {"GREATER", [](float a, float b) { return a > b; }},
      {"GREATER_EQUAL", [](float a, float b) { return a >= b; }},
  };
  for (const Pattern &pattern : Patterns()) {
    if (pattern.output.Elements() > 1000) continue;
    for (const Comparison &comparison : comparisons) {
      const Value ints_a = random.Ints(pattern.a, -2, 2);
      const Value ints_b = random.Ints(pattern.b, -2, 2);
      std::vector<float> a, b;
      for (const int32_t v : ints_a.ints()) a.push_back(static_cast<float>(v));
      for (const int32_t v : ints_b.ints()) b.push_back(static_cast<float>(v));
      if (a.size() > 2) a[2] = std::nanf("");
      std::vector<uint8_t> of_floats, of_ints;
      ForEachIndex(pattern.output, [&](const Index &index) {
        const int64_t i = Flat(pattern.a, index);
        const int64_t k = Flat(pattern.b, index);
        of_floats.push_back(comparison.reference(a[i], b[k]));
        of_ints.push_back(
            comparison.reference(static_cast<float>(ints_a.ints()[i]),
                                 static_cast<float>(ints_b.ints()[k])));
      });
      ExpectValue(OpCase("Eltwise")
                      .Input(Value::Floats(pattern.a, a))
                      .Input(Value::Floats(pattern.b, b))
                      .String("mode", comparison.mode),
                  Value::Bools(pattern.output, of_floats));
      ExpectValue(OpCase("Eltwise").Input(ints_a).Input(ints_b).String(
                      "mode", comparison.mode),
                  Value::Bools(pattern.output, of_ints));
    }
  }
}

TEST(EltwiseOpTest, IntegersWrapAndFloor) {
  const int32_t low = INT32_MIN, high = INT32_MAX;
  const auto check = [](const char *mode, const std::vector<int32_t> &a,
                        const std::vector<int32_t> &b,
                        const std::vector<int32_t> &expected) {
    SCOPED_TRACE(mode);
    const Shape shape = {static_cast<int64_t>(a.size())};
    // A device may only divide by what it knows.
    for (OpCase operands : {OpCase("Eltwise")
                                .Known(Value::Ints(shape, a))
                                .Input(Value::Ints(shape, b)),
                            OpCase("Eltwise")
                                .Input(Value::Ints(shape, a))
                                .Constant(Value::Ints(shape, b))}) {
      ExpectValue(operands.String("mode", mode), Value::Ints(shape, expected));
    }
  };
  check("ADD", {high, 2}, {1, 3}, {low, 5});
  check("SUB", {low, 2}, {1, 3}, {high, -1});
  check("MUL", {1 << 16, -3}, {1 << 16, 5}, {0, -15});
  check("DIV", {7, -7, low}, {2, 2, -1}, {3, -3, low});
  check("FLOOR_DIV", {7, -7, 7, -6, low}, {2, 2, -2, 2, -1},
        {3, -4, -4, -3, low});
  check("FLOOR_MOD", {7, -7, 7, -6, low}, {2, 2, -2, 2, -1}, {1, 1, -1, 0, 0});
  check("MIN", {1, 5}, {2, -4}, {1, -4});
  check("MAX", {1, 5}, {2, -4}, {2, 5});
  check("POW", {2, -3, 1, -1, 5, 3}, {10, 3, -5, -3, -1, 0},
        {1024, -27, 1, -1, 0, 1});
  check("SQR_DIFF", {3}, {-2}, {25});
}

// Integers that stand for those of 64 bits.
TEST(EltwiseOpTest, WideIntegersFitOrAreAnError) {
  struct Case {
    const char *mode;
    std::vector<int32_t> operands;
    int32_t result;
    bool fits;
  };
  const int32_t most = INT32_MAX;
  const int32_t least = INT32_MIN;
  for (const Case &c : {Case{"ADD", {most, -1}, most - 1, true},
                        Case{"ADD", {most, 1}, least, false},
                        Case{"SUB", {least, -1}, least + 1, true},
                        Case{"SUB", {-2, most}, most, false},
                        Case{"MUL", {1 << 15, -(1 << 16)}, least, true},
                        Case{"MUL", {1 << 16, 1 << 16}, 0, false},
                        Case{"SQR_DIFF", {-3, 2}, 25, true},
                        Case{"SQR_DIFF", {least, most}, 1, false},
                        Case{"POW", {-2, 31}, least, true},
                        Case{"POW", {2, 31}, least, false},
                        Case{"POW", {3, most}, -1431655765, false},
                        Case{"POW", {-1, most}, -1, true},
                        Case{"DIV", {least, 2}, least / 2, true},
                        Case{"DIV", {least, -1}, least, false},
                        Case{"FLOOR_DIV", {least, -1}, least, false},
                        Case{"FLOOR_MOD", {least, -1}, 0, true},
                        Case{"MAX", {least, most}, most, true},
                        Case{"NEG", {most}, -most, true},
                        Case{"NEG", {least}, least, false},
                        Case{"ABS", {least}, least, false},
                        Case{"SQUARE", {46341}, -2147479015, false}}) {
    SCOPED_TRACE(c.mode);
    OpCase op_case("Eltwise");
    op_case.String("mode", c.mode);
    for (const int32_t value : c.operands) {
      op_case.Input(Value::Ints({1}, {value}));
    }
    const Value wrapped = Value::Ints({1}, {c.result});
    ExpectValue(op_case, wrapped);
    op_case.Int("wide", 1);
    if (c.fits) {
      ExpectValue(op_case, wrapped);
    } else {
      ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS,
                  "a result exceeds the 32 bits");
    }
  }
}

TEST(EltwiseOpTest, IntegerDivisionByZeroIsAnError) {
  for (const char *mode : {"DIV", "FLOOR_DIV", "FLOOR_MOD"}) {
    ExpectError(OpCase("Eltwise")
                    .Input(Value::Ints({2}, {1, 2}))
                    .Input(Value::Ints({2}, {1, 0}))
                    .String("mode", mode),
                MaceStatus::MACE_INVALID_ARGS, "by zero");
  }
}

TEST(EltwiseOpTest, UnaryModes) {
  struct Unary {
    const char *mode;
    double (*reference)(double);
  };
  const Unary modes[] = {
      {"NEG", [](double x) { return -x; }},
      {"ABS", [](double x) { return std::fabs(x); }},
      {"SQRT", [](double x) { return std::sqrt(x); }},
      {"RSQRT", [](double x) { return 1 / std::sqrt(x); }},
      {"SQUARE", [](double x) { return x * x; }},
      {"EXP", [](double x) { return std::exp(x); }},
      {"LOG", [](double x) { return std::log(x); }},
      {"FLOOR", [](double x) { return std::floor(x); }},
      {"CEIL", [](double x) { return std::ceil(x); }},
      {"ROUND", [](double x) { return std::nearbyint(x); }},
      {"SIGN", [](double x) { return x > 0 ? 1.0 : -1.0; }},
      {"RECIPROCAL", [](double x) { return 1 / x; }},
      {"ERF", [](double x) { return std::erf(x); }},
      {"SIN", [](double x) { return std::sin(x); }},
      {"COS", [](double x) { return std::cos(x); }},
  };
  Random random(9);
  for (const Unary &unary : modes) {
    SCOPED_TRACE(unary.mode);
    const Value x = random.Floats({3, 11}, 0.1f, 5);
    std::vector<double> expected;
    for (const float v : x.floats()) expected.push_back(unary.reference(v));
    ExpectFloats(
        OpCase("Eltwise").Input(x).NoInput().String("mode", unary.mode),
        {3, 11}, expected, {2e-7, 3e-7});
  }
  ExpectValue(OpCase("Eltwise")
                  .Input(Value::Ints({3}, {-2, 0, INT32_MIN}))
                  .String("mode", "ABS"),
              Value::Ints({3}, {2, 0, INT32_MIN}));
}

TEST(EltwiseOpTest, MinAndMaxKeepNanOfEitherSide) {
  const float nan = std::nanf("");
  for (const char *mode : {"MIN", "MAX"}) {
    ExpectFloats(OpCase("Eltwise")
                     .Input(Value::Floats({3}, {nan, 1, 2}))
                     .Input(Value::Floats({3}, {1, nan, 2}))
                     .String("mode", mode),
                 {3}, {nan, nan, 2}, {});
  }
}

TEST(EltwiseOpTest, AppliesTheActivation) {
  Random random(10);
  const Value a = random.Floats({4, 33});
  const Value b = random.Floats({33});
  std::vector<double> expected;
  for (size_t i = 0; i < 4 * 33; ++i) {
    const float sum = a.floats()[i] + b.floats()[i % 33];
    expected.push_back(sum > 0 ? sum : 0);
  }
  ExpectFloats(OpCase("Eltwise")
                   .Input(a)
                   .Constant(b)
                   .String("mode", "ADD")
                   .String("activation", "RELU"),
               {4, 33}, expected, {});
}

TEST(EltwiseOpTest, Errors) {
  const Value x = Value::Floats({2, 3}, std::vector<float>(6));
  const Value n = Value::Ints({3}, {1, 2, 3});
  const auto bad = [](const OpCase &op_case, const char *text) {
    ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS, text);
  };
  bad(OpCase("Eltwise")
          .Input(x)
          .Input(Value::Floats({2}, {1, 2}))
          .String("mode", "ADD"),
      "[2, 3] and [2]");
  bad(OpCase("Eltwise").Input(x).Input(n).String("mode", "ADD"), "b is int32");
  bad(OpCase("Eltwise").Input(x).String("mode", "ADD"), "two inputs");
  bad(OpCase("Eltwise").Input(x).Input(x).String("mode", "NEG"), "one input");
  bad(OpCase("Eltwise").Input(x), "mode");
  bad(OpCase("Eltwise")
          .Input(n)
          .Input(n)
          .String("mode", "ADD")
          .String("activation", "RELU"),
      "float32");
  ExpectError(OpCase("Eltwise").Input(n).String("mode", "EXP"),
              MaceStatus::MACE_UNSUPPORTED, "EXP");
}

struct Mode {
  const char *name;
  int64_t (*reference)(int64_t, int64_t);
};

bool AllOut(int64_t b) { return b < 0 || b > 31; }

const Mode kModes[] = {
    {"AND", [](int64_t a, int64_t b) { return a & b; }},
    {"OR", [](int64_t a, int64_t b) { return a | b; }},
    {"XOR", [](int64_t a, int64_t b) { return a ^ b; }},
    {"SHIFT_LEFT",
     [](int64_t a, int64_t b) {
       return AllOut(b) ? 0 : a * (int64_t{1} << b);
     }},
    {"SHIFT_RIGHT",
     [](int64_t a, int64_t b) { return a >> (AllOut(b) ? 63 : b); }},
};

TEST(BitwiseTest, TwoOperands) {
  Random random(1);
  const Shape output = {2, 3, 5, 70};
  const Shape shapes[] = {output, {70}, {}, {3, 1, 70}, {2, 3, 5, 1}};
  for (const Mode &mode : kModes) {
    for (const Shape &other : shapes) {
      const Value full = random.Ints(output, -200, 200);
      const Value part = random.Ints(other, -8, 40);
      for (const bool swapped : {false, true}) {
        const Value &a = swapped ? part : full;
        const Value &b = swapped ? full : part;
        std::vector<int32_t> expected;
        ForEachIndex(output, [&](const Index &index) {
          expected.push_back(
              static_cast<int32_t>(static_cast<uint32_t>(mode.reference(
                  a.ints()[static_cast<size_t>(Flat(a.shape, index))],
                  b.ints()[static_cast<size_t>(Flat(b.shape, index))]))));
        });
        SCOPED_TRACE(testing::Message() << mode.name);
        ExpectValue(
            OpCase("Bitwise").Input(a).Input(b).String("mode", mode.name),
            Value::Ints(output, expected));
      }
    }
  }
}

TEST(BitwiseTest, HighestBits) {
  const Value a = Value::Ints({3}, {INT32_MIN, INT32_MAX, 1});
  ExpectValue(OpCase("Bitwise")
                  .Input(a)
                  .Input(Value::Ints({3}, {1, 1, 31}))
                  .String("mode", "SHIFT_LEFT"),
              Value::Ints({3}, {0, -2, INT32_MIN}));
  ExpectValue(OpCase("Bitwise")
                  .Input(a)
                  .Input(Value::Ints({3}, {31, INT32_MIN, INT32_MAX}))
                  .String("mode", "SHIFT_RIGHT"),
              Value::Ints({3}, {-1, 0, 0}));
}

TEST(BitwiseTest, WideIntegersFitOrAreAnError) {
  const auto of = [](int32_t a, int32_t bits) {
    return OpCase("Bitwise")
        .Input(Value::Ints({1}, {a}))
        .Input(Value::Ints({1}, {bits}))
        .String("mode", "SHIFT_LEFT")
        .Int("wide", 1);
  };
  ExpectValue(of(1, 30), Value::Ints({1}, {1 << 30}));
  ExpectValue(of(-1, 31), Value::Ints({1}, {INT32_MIN}));
  ExpectValue(of(0, 63), Value::Ints({1}, {0}));
  for (const OpCase &op_case : {of(1, 31), of(-3, 31), of(1, 40)}) {
    ExpectError(op_case, MaceStatus::MACE_INVALID_ARGS,
                "a result exceeds the 32 bits");
  }
}

TEST(BitwiseTest, Not) {
  ExpectValue(OpCase("Bitwise")
                  .Input(Value::Ints({2, 2}, {0, -1, INT32_MIN, 5}))
                  .String("mode", "NOT"),
              Value::Ints({2, 2}, {-1, 0, INT32_MAX, -6}));
}

TEST(BitwiseTest, Errors) {
  const Value x = Value::Ints({2}, {1, 2});
  ExpectError(OpCase("Bitwise").Input(x).String("mode", "AND"),
              MaceStatus::MACE_INVALID_ARGS, "mode AND takes two inputs");
  ExpectError(OpCase("Bitwise").Input(x).Input(x).String("mode", "NOT"),
              MaceStatus::MACE_INVALID_ARGS, "mode NOT takes one input");
  ExpectError(OpCase("Bitwise")
                  .Input(x)
                  .Input(Value::Ints({3}, {1, 2, 3}))
                  .String("mode", "OR"),
              MaceStatus::MACE_INVALID_ARGS, "do not broadcast");
}

Value RandomBools(Random *random, const Shape &shape) {
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    values.push_back(static_cast<uint8_t>(random->Int(0, 1)));
  }
  return Value::Bools(shape, values);
}

// The position in `x` of element `at` of an output of shape `y`.
size_t From(const Shape &x, const Shape &y, int64_t at) {
  int64_t index = 0;
  int64_t stride = 1;
  for (size_t i = 0; i < y.rank(); ++i) {
    const int64_t position = at % y[y.rank() - 1 - i];
    at /= y[y.rank() - 1 - i];
    if (i >= x.rank()) continue;
    const int64_t dim = x[x.rank() - 1 - i];
    if (dim != 1) index += position * stride;
    stride *= dim;
  }
  return static_cast<size_t>(index);
}

void Check(Random *random,
           const Shape &c,
           const Shape &a,
           const Shape &b,
           const Shape &y) {
  const Value condition = RandomBools(random, c);
  const Value floats[] = {random->Floats(a), random->Floats(b)};
  const Value ints[] = {random->Ints(a, -9, 9), random->Ints(b, -9, 9)};
  const std::vector<uint8_t> holds = condition.As<uint8_t>();
  std::vector<float> wanted_floats;
  std::vector<int32_t> wanted_ints;
  for (int64_t i = 0; i < y.Elements(); ++i) {
    const bool first = holds[From(c, y, i)] != 0;
    const size_t at = From(first ? a : b, y, i);
    wanted_floats.push_back(floats[first ? 0 : 1].floats()[at]);
    wanted_ints.push_back(ints[first ? 0 : 1].ints()[at]);
  }
  ExpectValue(
      OpCase("Where").Input(condition).Input(floats[0]).Input(floats[1]),
      Value::Floats(y, wanted_floats));
  ExpectValue(OpCase("Where").Input(condition).Input(ints[0]).Input(ints[1]),
              Value::Ints(y, wanted_ints));
}

TEST(WhereTest, EqualShapes) {
  Random random(1);
  for (const Shape &shape : {Shape{}, Shape{1}, Shape{37}, Shape{2, 3, 5},
                             Shape{0, 4}, Shape{2, 1, 3, 1, 5}}) {
    Check(&random, shape, shape, shape, shape);
  }
}

TEST(WhereTest, Broadcasts) {
  Random random(2);
  Check(&random, {4, 5}, {}, {4, 5}, {4, 5});
  Check(&random, {4, 5}, {1}, {1, 1}, {4, 5});
  Check(&random, {4, 1}, {4, 5}, {5}, {4, 5});
  Check(&random, {}, {3, 1}, {1, 7}, {3, 7});
  Check(&random, {2, 1, 3, 1}, {4, 1, 5}, {3, 5}, {2, 4, 3, 5});
  Check(&random, {1, 1, 6, 6}, {2, 3, 6, 6}, {}, {2, 3, 6, 6});
  Check(&random, {3, 1}, {0}, {1}, {3, 0});
}

// Long runs of equal elements in a constant condition are copied as a whole.
TEST(WhereTest, RunsOfAConstant) {
  Random random(4);
  const Shape shape = {3, 4, 300};
  for (const int64_t length : {1, 63, 200, 300, 301}) {
    for (const Shape &c : {Shape{3, 4, 300}, Shape{4, 300}, Shape{1, 1, 300},
                           Shape{3, 1, 300}, Shape{3, 4, 1}}) {
      std::vector<uint8_t> holds;
      for (int64_t i = 0; i < c.Elements(); ++i) {
        holds.push_back(i / length % 2 == 1);
      }
      const Value condition = Value::Bools(c, holds);
      for (const Shape &b : {shape, Shape{}, Shape{4, 1}}) {
        const Value x = random.Floats(shape);
        const Value y =
            b.rank() == 0 ? Value::Floats({}, {0.0f}) : random.Floats(b);
        std::vector<float> first;
        std::vector<float> second;
        for (int64_t i = 0; i < shape.Elements(); ++i) {
          const bool is_x = holds[From(c, shape, i)] != 0;
          const float own = x.floats()[static_cast<size_t>(i)];
          const float other = y.floats()[From(b, shape, i)];
          first.push_back(is_x ? own : other);
          second.push_back(is_x ? other : own);
        }
        ExpectValue(OpCase("Where").Constant(condition).Input(x).Input(y),
                    Value::Floats(shape, first));
        ExpectValue(OpCase("Where").Constant(condition).Input(y).Input(x),
                    Value::Floats(shape, second));
      }
    }
  }
}

TEST(WhereTest, Errors) {
  Random random(3);
  auto make = [&](const Value &c, const Value &a, const Value &b) {
    return OpCase("Where").Input(c).Input(a).Input(b);
  };
  const Value c = RandomBools(&random, {2, 3});
  ExpectError(make(c, random.Floats({2, 3}), random.Floats({2, 4})),
              MaceStatus::MACE_INVALID_ARGS, "do not broadcast");
  ExpectError(make(c, random.Floats({2, 3}), random.Ints({2, 3}, 0, 1)),
              MaceStatus::MACE_INVALID_ARGS, "a is float32 but b is int32");
}

}  // namespace
}  // namespace mace
