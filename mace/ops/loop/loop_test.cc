// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Whole loops: mace/runtimes/testing/loops_test.cc.

#include <gtest/gtest.h>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::OpCase;
using op_test::Random;
using op_test::RunEverywhere;
using op_test::Value;

TEST(LoopBeginOpTest, HandsTheFirstValuesOn) {
  Random random(1);
  const Value x = random.Floats({2, 3});
  for (const bool go : {false, true}) {
    for (const int32_t trips : {-1, 0, 2}) {
      const OpCase op_case = OpCase("LoopBegin", 3)
                                 .Input(Value::Bools({}, {go}))
                                 .Input(Value::Ints({1}, {trips}))
                                 .Input(x)
                                 .OnCpuOnly();
      for (const auto &run : RunEverywhere(op_case)) {
        ASSERT_TRUE(IsOk(run.result.status)) << run.result.status.information();
        EXPECT_EQ(run.result.outputs[0].As<uint8_t>()[0], go && trips > 0);
        EXPECT_EQ(run.result.outputs[1].As<int32_t>()[0], 0);
        EXPECT_EQ(run.result.outputs[2].floats(), x.floats());
      }
    }
  }
}

OpCase End(bool enters, int32_t step, const Value &state, const Value &next) {
  return OpCase("LoopEnd", 2)
      .Input(Value::Bools({}, {enters}))
      .Input(Value::Ints({}, {step}))
      .NoInput()
      .Input(Value::Ints({}, {3}))
      .Input(state)
      .Input(next)
      .Int("states", 1)
      .OnCpuOnly();
}

TEST(LoopEndOpTest, EndsARound) {
  Random random(2);
  const Value state = random.Floats({2, 3});
  const Value next = random.Floats({2, 3});
  for (const bool enters : {false, true}) {
    for (const int32_t step : {0, 1, 2}) {
      for (const auto &run : RunEverywhere(End(enters, step, state, next))) {
        ASSERT_TRUE(IsOk(run.result.status)) << run.result.status.information();
        EXPECT_EQ(run.result.outputs[0].As<uint8_t>()[0], enters && step < 2);
        EXPECT_EQ(run.result.outputs[1].floats(),
                  enters ? next.floats() : state.floats());
      }
    }
  }
}

TEST(LoopEndOpTest, ShapesMustStay) {
  Random random(3);
  const Value state = random.Floats({2, 3});
  for (const Shape &shape : {Shape{2, 4}, Shape{2}, Shape{2, 3, 1}}) {
    ExpectError(End(true, 0, state, random.Floats(shape)),
                MaceStatus::MACE_INVALID_ARGS, "keep its shape");
  }
  ExpectError(End(true, 0, state, Value::Ints({2, 3}, {1, 2, 3, 4, 5, 6})),
              MaceStatus::MACE_INVALID_ARGS, "keep its shape");
}

TEST(LoopEndOpTest, CollectsOnlyAKnownNumberOfRounds) {
  Random random(4);
  const Value x = random.Floats({2});
  const OpCase computed = OpCase("LoopEnd", 3)
                              .Input(Value::Bools({}, {true}))
                              .Input(Value::Ints({}, {0}))
                              .NoInput()
                              .Input(Value::Ints({}, {3}))
                              .Input(x)
                              .Input(x)
                              .Input(x)
                              .Int("states", 1)
                              .OnCpuOnly();
  ExpectError(computed, MaceStatus::MACE_UNSUPPORTED, "not known before");
}

TEST(FailOpTest, FailsIfItsConditionIsTrue) {
  Random random(5);
  const Value x = random.Floats({2, 3});
  const auto with = [&x](bool condition) {
    return OpCase("Fail", 1)
        .Input(Value::Bools({}, {condition}))
        .Input(x)
        .String("message", "the branch has no end")
        .OnCpuOnly();
  };
  for (const auto &run : RunEverywhere(with(false))) {
    ASSERT_TRUE(IsOk(run.result.status)) << run.result.status.information();
    EXPECT_EQ(run.result.outputs[0].floats(), x.floats());
  }
  for (const auto &run : RunEverywhere(with(true))) {
    EXPECT_EQ(run.result.status.code(), MaceStatus::MACE_UNSUPPORTED);
    EXPECT_NE(run.result.status.information().find("the branch has no end"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace mace
