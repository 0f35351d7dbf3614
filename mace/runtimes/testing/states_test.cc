// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Values that a run keeps for the next run.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "mace/runtimes/testing/fake_device.h"

namespace mace {
namespace core_test {
namespace {

// sum += 2 x; y = 1 sum + 0.
ModelBuilder Accumulator() {
  ModelBuilder model;
  model.Input("x", {2})
      .Input("sum", {2})
      .Operator("double", "TestAffine", {"x"}, {"twice"}, {Scale(2)})
      .Operator("add", "TestAdd", {"twice", "sum"}, {"new_sum"})
      .Operator("copy", "TestAffine", {"new_sum"}, {"y"}, {Scale(1)})
      .Output("y")
      .State("sum", "new_sum");
  return model;
}

std::vector<float> RunWith(const MadeEngine &made,
                           const std::vector<float> &x,
                           const std::string &output = "y") {
  Tensors outputs = {{output, Room(2)}};
  const MaceStatus status = made.engine->Run({{"x", Floats({2}, x)}}, &outputs);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  return Values(outputs[output]);
}

TEST(StatesTest, AreZeroAtFirstAndAfterAReset) {
  const MadeEngine made = Make(Accumulator());
  ASSERT_OK(made.status);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(RunWith(made, {1, 2}), (std::vector<float>{2, 4}));
    EXPECT_EQ(RunWith(made, {3, 0}), (std::vector<float>{8, 4}));
    EXPECT_EQ(RunWith(made, {0, 1}), (std::vector<float>{8, 6}));
    ASSERT_OK(made.engine->ResetStates());
  }
  EXPECT_EQ(made.engine->GetStats().state_bytes, 128u);
}

TEST(StatesTest, AreNoInputsAndMayBeOutputs) {
  MakeOptions options;
  options.outputs = {"new_sum"};
  const MadeEngine made = Make(Accumulator(), options);
  ASSERT_OK(made.status);
  EXPECT_EQ(RunWith(made, {1, 2}, "new_sum"), (std::vector<float>{2, 4}));
  EXPECT_EQ(RunWith(made, {1, 2}, "new_sum"), (std::vector<float>{4, 8}));
  Tensors outputs = {{"new_sum", Room(2)}};
  const MaceStatus status = made.engine->Run(
      {{"x", Floats({2}, {1, 1})}, {"sum", Floats({2}, {1, 1})}}, &outputs);
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "'sum'");
}

TEST(StatesTest, ThatNoWantedOutputNeedsAreLeftOut) {
  MakeOptions options;
  options.outputs = {"twice"};
  const MadeEngine made = Make(Accumulator(), options);
  ASSERT_OK(made.status);
  EXPECT_EQ(made.engine->GetStats().operator_count, 1u);
  EXPECT_EQ(made.engine->GetStats().state_bytes, 0u);
  EXPECT_EQ(RunWith(made, {1, 2}, "twice"), (std::vector<float>{2, 4}));
}

TEST(StatesTest, AFailedRunLeavesThemAsTheyWere) {
  MakeOptions options;
  ASSERT_OK(options.config.SetOutOfRangeCheck(true));
  const MadeEngine made = Make(Accumulator(), options);
  ASSERT_OK(made.status);
  EXPECT_EQ(RunWith(made, {1, 2}), (std::vector<float>{2, 4}));
  Tensors outputs = {{"y", Room(2)}};
  EXPECT_CODE(made.engine->Run({{"x", Floats({2}, {3e38f, 3e38f})}}, &outputs),
              MACE_RUNTIME_ERROR);
  EXPECT_EQ(RunWith(made, {1, 1}), (std::vector<float>{4, 6}));
}

TEST(StatesTest, LiveOnWhenADeviceFails) {
  for (int64_t call = 1; call < 60; ++call) {
    FakeDeviceSettings settings;
    settings.takes = TakesEverySecond;
    settings.failing_call = call;
    const FakeDeviceControl control(settings);
    MakeOptions options;
    ASSERT_OK(options.config.SetRuntimeTypes({RT_APU, RT_CPU}));
    const MadeEngine made = Make(Accumulator(), options);
    ASSERT_OK(made.status);
    for (int run = 1; run < 5; ++run) {
      const auto sum = static_cast<float>(2 * run);
      EXPECT_EQ(RunWith(made, {1, 2}), (std::vector<float>{sum, 2 * sum}));
    }
  }
}

TEST(StatesTest, RefuseWhatCanNotBeOne) {
  const auto status_of = [](const ModelBuilder &model) {
    return Make(model).status;
  };
  MaceStatus status = status_of(Accumulator().State("nothing", "y"));
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "state 'nothing' is not an input");
  status = status_of(Accumulator().State("x", "missing"));
  EXPECT_MENTIONS(status, "'missing', which no operator produces");
  status = status_of(Accumulator().State("sum", "y"));
  EXPECT_MENTIONS(status, "input 'sum' belongs to two states");
  status = status_of(Accumulator().State("x", "new_sum"));
  EXPECT_MENTIONS(status, "two states have the next value 'new_sum'");
  ModelBuilder open;
  open.Input("x", {-1})
      .Operator("a", "TestAffine", {"x"}, {"y"})
      .Output("y")
      .State("x", "y");
  EXPECT_MENTIONS(status_of(open), "which is not fixed");
  ModelBuilder other;
  other.Input("x", {2})
      .Input("s", {1})
      .Operator("a", "TestAffine", {"x"}, {"y"})
      .Operator("b", "TestAffine", {"s"}, {"z"})
      .Output("z")
      .State("s", "y");
  const MadeEngine made = Make(other);
  ASSERT_OK(made.status);
  Tensors outputs = {{"z", Room(1)}};
  status = made.engine->Run({{"x", Floats({2}, {1, 1})}}, &outputs);
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "state 's' is float32[1], but 'y'");
}

}  // namespace
}  // namespace core_test
}  // namespace mace
