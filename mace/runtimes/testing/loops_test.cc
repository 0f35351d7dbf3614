// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Loops whose number of rounds the run decides (mace/runtimes/cpu/loops.h).

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "mace/runtimes/testing/fake_device.h"

namespace mace {
namespace core_test {
namespace {

using Names = std::vector<std::string>;

std::string States(int64_t count) { return IntAttribute("states", count); }

Names operator+(Names first, const Names &second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Begins and ends a loop called `name` with these states, for `trips` rounds.
ModelBuilder &Begin(ModelBuilder *model,
                    const std::string &name,
                    const std::string &trips,
                    const Names &initial,
                    const Names &states) {
  return model->Operator(name + "/begin", "LoopBegin",
                         Names{"", trips} + initial,
                         Names{name + "/enters", name + "/step"} + states);
}
ModelBuilder &End(ModelBuilder *model,
                  const std::string &name,
                  const std::string &trips,
                  const Names &states,
                  const Names &values,
                  const Names &results) {
  return model->Operator(
      name + "/end", "LoopEnd",
      Names{name + "/enters", name + "/step", "", trips} + states + values,
      Names{name + "/more"} + results,
      {States(static_cast<int64_t>(states.size()))});
}

MaceTensor Trips(int32_t count) {
  const std::shared_ptr<void> data(new int32_t[1]{count}, [](void *p) {
    delete[] static_cast<int32_t *>(p);
  });
  return MaceTensor({1}, data, DataFormat::NHWC, IDataType::IDT_INT32);
}

std::vector<float> RunWith(const MadeEngine &made,
                           int32_t trips,
                           const std::vector<float> &x,
                           const std::string &output = "y",
                           int64_t room = 0) {
  const auto count = static_cast<int64_t>(x.size());
  Tensors outputs = {{output, Room(room == 0 ? count : room)}};
  const MaceStatus status = made.engine->Run(
      {{"x", Floats({count}, x)}, {"trips", Trips(trips)}}, &outputs);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  return Values(outputs[output]);
}

ModelBuilder Inputs(int64_t count) {
  ModelBuilder model;
  model.Input("x", {count}).Input("trips", {1}, DataType::kInt32);
  return model;
}

// y = 2 ** trips * x
ModelBuilder Doubling() {
  ModelBuilder model = Inputs(2);
  Begin(&model, "loop", "trips", {"x"}, {"s"});
  model.Operator("double", "TestAffine", {"s"}, {"t"}, {Scale(2)});
  End(&model, "loop", "trips", {"s"}, {"t"}, {"y"});
  model.Output("y");
  return model;
}

TEST(LoopsTest, RunAsOftenAsTheRunSays) {
  const MadeEngine made = Make(Doubling());
  ASSERT_OK(made.status);
  for (const int32_t trips : {3, 0, 1, 10, -4}) {
    const float factor = trips < 0 ? 1.0f : static_cast<float>(1 << trips);
    EXPECT_EQ(RunWith(made, trips, {1, -3}),
              (std::vector<float>{factor, -3 * factor}))
        << trips;
  }
}

// Everything around a loop that could share memory with what is in it: `c` is
// read in every round, `d` before it alone, `e` after it alone.
TEST(LoopsTest, MemoryOfWhatEveryRoundReadsIsKept) {
  ModelBuilder model = Inputs(2);
  model.Operator("c", "TestAffine", {"x"}, {"c"}, {Scale(3)})
      .Operator("d", "TestAffine", {"x"}, {"d"}, {Scale(5)})
      .Operator("e", "TestAffine", {"d"}, {"e"}, {Scale(7)});
  Begin(&model, "loop", "trips", {"d"}, {"s"});
  model.Operator("add", "TestAdd", {"s", "c"}, {"t"})
      .Operator("more", "TestAffine", {"t"}, {"u"}, {Scale(2)})
      .Operator("less", "TestAffine", {"u"}, {"v"}, {Scale(0.5f)});
  End(&model, "loop", "trips", {"s"}, {"v"}, {"last"});
  model.Operator("y", "TestAdd", {"last", "e"}, {"y"}).Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  for (const int32_t trips : {0, 1, 2, 9}) {
    // 5 x + trips * 3 x + 35 x
    const auto factor = static_cast<float>(40 + 3 * trips);
    EXPECT_EQ(RunWith(made, trips, {1, -3}),
              (std::vector<float>{factor, -3 * factor}));
  }
}

TEST(LoopsTest, StatesMayBeExchanged) {
  ModelBuilder model = Inputs(2);
  model.Operator("z", "TestAffine", {"x"}, {"z"}, {Scale(10)});
  Begin(&model, "loop", "trips", {"x", "z"}, {"a", "b"});
  End(&model, "loop", "trips", {"a", "b"}, {"b", "a"}, {"y", "w"});
  model.Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  EXPECT_EQ(RunWith(made, 4, {1, 2}), (std::vector<float>{1, 2}));
  EXPECT_EQ(RunWith(made, 5, {1, 2}), (std::vector<float>{10, 20}));
}

// Fibonacci's numbers: a, b = b, a + b.
TEST(LoopsTest, AStateMayBecomeAnother) {
  ModelBuilder model = Inputs(1);
  model.Operator("z", "TestAffine", {"x"}, {"z"}, {Scale(0)});
  Begin(&model, "loop", "trips", {"z", "x"}, {"a", "b"});
  model.Operator("sum", "TestAdd", {"a", "b"}, {"c"});
  End(&model, "loop", "trips", {"a", "b"}, {"b", "c"}, {"y", "w"});
  model.Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  EXPECT_EQ(RunWith(made, 10, {1}), std::vector<float>{55});
  EXPECT_EQ(RunWith(made, 0, {1}), std::vector<float>{0});
}

TEST(LoopsTest, MayBeNested) {
  ModelBuilder model = Inputs(2);
  Begin(&model, "outer", "trips", {"x"}, {"s"});
  model.Operator("plus", "TestAdd", {"s", "x"}, {"p"});
  Begin(&model, "inner", "trips", {"p"}, {"q"});
  model.Operator("double", "TestAffine", {"q"}, {"r"}, {Scale(2)});
  End(&model, "inner", "trips", {"q"}, {"r"}, {"t"});
  End(&model, "outer", "trips", {"s"}, {"t"}, {"y"});
  model.Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  for (const int32_t trips : {0, 1, 2, 3}) {
    float s = 1;
    for (int32_t i = 0; i < trips; ++i) {
      s = (s + 1) * static_cast<float>(1 << trips);
    }
    EXPECT_EQ(RunWith(made, trips, {1, -3}), (std::vector<float>{s, -3 * s}));
  }
}

TEST(LoopsTest, CollectTheValuesOfAllRounds) {
  ModelBuilder model;
  model.Input("x", {2}).Input("trips", {1}, DataType::kInt32);
  model.Constant("three", {1}, std::vector<int32_t>{3});
  Begin(&model, "loop", "three", {"x"}, {"s"});
  model.Operator("double", "TestAffine", {"s"}, {"t"}, {Scale(2)});
  End(&model, "loop", "three", {"s"}, {"t", "t"}, {"last", "y"});
  model.Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  EXPECT_EQ(RunWith(made, 0, {1, -3}, "y", 6),
            (std::vector<float>{2, -6, 4, -12, 8, -24}));
}

TEST(LoopsTest, AreNotComputedBeforeTheRun) {
  ModelBuilder model;
  model.Input("x", {2}).Input("trips", {1}, DataType::kInt32);
  model.Constant("two", {2}, std::vector<float>{2, 3});
  model.Constant("three", {1}, std::vector<int32_t>{3});
  Begin(&model, "loop", "three", {"two"}, {"s"});
  model.Operator("double", "TestAffine", {"s"}, {"t"}, {Scale(2)});
  End(&model, "loop", "three", {"s"}, {"t"}, {"last"});
  model.Operator("y", "TestAdd", {"last", "x"}, {"y"}).Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  EXPECT_EQ(RunWith(made, 0, {1, -3}), (std::vector<float>{17, 21}));
}

TEST(LoopsTest, NothingOutsideReadsWhatIsInside) {
  ModelBuilder model = Inputs(2);
  Begin(&model, "loop", "trips", {"x"}, {"s"});
  model.Operator("double", "TestAffine", {"s"}, {"t"}, {Scale(2)});
  End(&model, "loop", "trips", {"s"}, {"t"}, {"last"});
  model.Operator("y", "TestAdd", {"last", "t"}, {"y"}).Output("y");
  const MadeEngine made = Make(model);
  EXPECT_CODE(made.status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(made.status, "'y'");
  EXPECT_MENTIONS(made.status, "inside of the loop");

  MakeOptions options;
  options.outputs = {"t"};
  const MadeEngine cut = Make(Doubling(), options);
  EXPECT_CODE(cut.status, MACE_INVALID_ARGS);
}

TEST(LoopsTest, EndMustBelongToItsBeginning) {
  ModelBuilder model = Inputs(2);
  Begin(&model, "loop", "trips", {"x"}, {"s"});
  model.Operator("double", "TestAffine", {"s"}, {"t"}, {Scale(2)});
  End(&model, "loop", "trips", {"x"}, {"t"}, {"y"});
  model.Output("y");
  const MadeEngine made = Make(model);
  EXPECT_CODE(made.status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(made.status, "'loop/begin'");
}

// Otherwise the collected value would be handed on as a state of another shape.
TEST(LoopsTest, EndHasAsManyStatesAsItsBeginning) {
  ModelBuilder model = Inputs(2);
  model.Constant("none", {1}, std::vector<int32_t>{0});
  Begin(&model, "loop", "none", {"x", "x"}, {"s", "r"});
  model.Operator("double", "TestAffine", {"s"}, {"t"}, {Scale(2)});
  End(&model, "loop", "none", {"s"}, {"r", "t"}, {"y", "all"});
  model.Output("y").Output("all");
  const MadeEngine made = Make(model);
  EXPECT_CODE(made.status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(made.status, "'loop/begin'");
}

// What a round reads may come from another device, but the loop stays on the
// host in one piece.
TEST(LoopsTest, RunOnTheHostBesideAnotherDevice) {
  ModelBuilder model = Inputs(2);
  model.Operator("a", "TestAffine", {"x"}, {"a"}, {Scale(3)});
  Begin(&model, "loop", "trips", {"x"}, {"s"});
  model.Operator("double", "TestAffine", {"s"}, {"t"}, {Scale(2)})
      .Operator("add", "TestAdd", {"t", "a"}, {"u"});
  End(&model, "loop", "trips", {"s"}, {"u"}, {"last"});
  model.Operator("after", "TestAffine", {"last"}, {"y"}, {Scale(5)})
      .Output("y");
  const FakeDeviceControl control(Taking(TakesAll));
  MakeOptions options;
  ASSERT_OK(options.config.SetRuntimeTypes({RT_APU, RT_CPU}));
  const MadeEngine made = Make(model, options);
  ASSERT_OK(made.status);
  for (const int32_t trips : {0, 1, 4}) {
    float s = 1;
    for (int32_t i = 0; i < trips; ++i) s = 2 * s + 3;
    EXPECT_EQ(RunWith(made, trips, {1, 2}),
              (std::vector<float>{5 * s, 10 * s}));
  }
  for (const OperatorPlacement &op : made.engine->GetPlacement().operators) {
    const bool outside = op.operator_name == "a" || op.operator_name == "after";
    EXPECT_EQ(op.device, outside ? APU : CPU) << op.operator_name;
  }
}

TEST(LoopsTest, ExplainNamesTheirOperators) {
  const MadeEngine made = Make(Doubling());
  ASSERT_OK(made.status);
  const std::string text = made.engine->Explain();
  EXPECT_NE(text.find("loop/end"), std::string::npos) << text;
}

}  // namespace
}  // namespace core_test
}  // namespace mace
