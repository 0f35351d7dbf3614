// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Loops whose number of rounds the run decides, and choices (mace/runtimes/cpu/
// loops.h).

#include <gtest/gtest.h>

#include <algorithm>
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

// The collected values are read inside of the model, so that the engine chooses
// their memory. The products are not needed any more when the loop ends, but
// each round writes them.
TEST(LoopsTest, MemoryOfWhatIsCollectedIsKept) {
  ModelBuilder model = Inputs(2);
  model.Constant("three", {1}, std::vector<int32_t>{3});
  Begin(&model, "loop", "three", {"x"}, {"s"});
  model.Operator("a", "TestAffine", {"s"}, {"a"}, {Scale(2)});
  const Names products = {"b", "c", "d", "e", "f", "g", "h", "i"};
  for (const std::string &name : products) {
    model.Operator(name, "TestAffine", {"a"}, {name}, {Scale(0.5f)});
  }
  std::string sum = "a";
  for (const std::string &name : products) {
    model.Operator("add " + name, "TestAdd", {sum, name}, {"a + " + name});
    sum = "a + " + name;
  }
  End(&model, "loop", "three", {"s"}, {sum, "a"}, {"end", "all"});
  model.Operator("p", "TestAffine", {"all"}, {"p"}, {Scale(3)})
      .Operator("q", "TestAffine", {"all"}, {"q"}, {Scale(-2)})
      .Operator("y", "TestAdd", {"p", "q"}, {"y"})
      .Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  // Each round multiplies by 2 * (1 + 8 / 2).
  EXPECT_EQ(RunWith(made, 0, {1, -3}, "y", 6),
            (std::vector<float>{2, -6, 20, -60, 200, -600}));
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

// Choices.

std::string FailsInTheRun() { return StringAttribute("step", "run"); }
std::string Less() { return StringAttribute("mode", "LESS"); }

// y = flag ? 2 x : what cannot be run, where the flag is trips > 0.
TEST(ChoicesTest, WhatIsNotTakenIsNotRun) {
  ModelBuilder model = Inputs(2);
  model.Constant("zero", {1}, std::vector<int32_t>{0})
      .Operator("double", "TestAffine", {"x"}, {"a"}, {Scale(2)})
      .Operator("flag", "Eltwise", {"zero", "trips"}, {"flag"}, {Less()})
      .Operator("fail", "TestReject", {"x"}, {"b"}, {FailsInTheRun()})
      .Operator("more", "TestAffine", {"b"}, {"c"}, {Scale(3)})
      .Operator("choose", "Where", {"flag", "a", "c"}, {"y"})
      .Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  EXPECT_EQ(RunWith(made, 1, {1, -3}), (std::vector<float>{2, -6}));
  Tensors outputs = {{"y", Room(2)}};
  const MaceStatus status = made.engine->Run(
      {{"x", Floats({2}, {1, 2})}, {"trips", Trips(0)}}, &outputs);
  EXPECT_CODE(status, MACE_UNSUPPORTED);
  EXPECT_MENTIONS(status, "'fail'");
}

// Of the three operators of the side that fails, the first two come before the
// condition: they always run.
TEST(ChoicesTest, WhatComesBeforeTheConditionIsRun) {
  ModelBuilder model = Inputs(2);
  model.Constant("zero", {1}, std::vector<int32_t>{0})
      .Operator("fail", "TestReject", {"x"}, {"b"}, {FailsInTheRun()})
      .Operator("flag", "Eltwise", {"zero", "trips"}, {"flag"}, {Less()})
      .Operator("choose", "Where", {"flag", "x", "b"}, {"y"})
      .Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(2)}};
  const MaceStatus status = made.engine->Run(
      {{"x", Floats({2}, {1, 2})}, {"trips", Trips(1)}}, &outputs);
  EXPECT_CODE(status, MACE_UNSUPPORTED);
}

// y = 0 < trips ? (1 < trips ? 2 x : 3 x) : what fails; z reads 3 x, too, if
// `shared`.
ModelBuilder Nested(bool shared) {
  ModelBuilder model = Inputs(2);
  model.Constant("zero", {1}, std::vector<int32_t>{0})
      .Constant("one", {1}, std::vector<int32_t>{1})
      .Operator("outer", "Eltwise", {"zero", "trips"}, {"p"}, {Less()})
      .Operator("inner", "Eltwise", {"one", "trips"}, {"q"}, {Less()})
      .Operator("two", "TestAffine", {"x"}, {"a"}, {Scale(2)})
      .Operator("three", "TestAffine", {"x"}, {"b"}, {Scale(3)})
      .Operator("choose", "Where", {"q", "a", "b"}, {"c"})
      .Operator("fail", "TestReject", {"x"}, {"d"}, {FailsInTheRun()})
      .Operator("choose_again", "Where", {"p", "c", "d"}, {"y"})
      .Output("y");
  if (shared) {
    model.Operator("z", "TestAffine", {"b"}, {"z"}, {Scale(5)}).Output("z");
  }
  return model;
}

// The operators that a run times.
Names RunOperators(const MadeEngine &made, int32_t trips, Tensors *outputs) {
  RunMetadata metadata;
  const MaceStatus status =
      made.engine->Run({{"x", Floats({2}, {1, -3})}, {"trips", Trips(trips)}},
                       outputs, &metadata);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  Names names;
  for (const OperatorStats &op : metadata.op_stats) {
    names.push_back(op.operator_name);
  }
  return names;
}

TEST(ChoicesTest, MayBeNested) {
  const MadeEngine made = Make(Nested(false));
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(2)}};
  EXPECT_EQ(RunOperators(made, 2, &outputs),
            (Names{"outer", "inner", "two", "choose", "choose_again"}));
  EXPECT_EQ(Values(outputs["y"]), (std::vector<float>{2, -6}));
  EXPECT_EQ(RunOperators(made, 1, &outputs),
            (Names{"outer", "inner", "three", "choose", "choose_again"}));
  EXPECT_EQ(Values(outputs["y"]), (std::vector<float>{3, -9}));
}

TEST(ChoicesTest, WhatAnythingElseReadsIsRun) {
  const MadeEngine made = Make(Nested(true));
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(2)}, {"z", Room(2)}};
  EXPECT_EQ(
      RunOperators(made, 2, &outputs),
      (Names{"outer", "inner", "two", "three", "choose", "choose_again", "z"}));
  EXPECT_EQ(Values(outputs["y"]), (std::vector<float>{2, -6}));
  EXPECT_EQ(Values(outputs["z"]), (std::vector<float>{15, -45}));
}

// Each round decides by its own number: s = step < 2 ? 2 s : s + x.
TEST(ChoicesTest, EachRoundOfALoopDecides) {
  ModelBuilder model = Inputs(2);
  model.Constant("two", {1}, std::vector<int32_t>{2});
  Begin(&model, "loop", "trips", {"x"}, {"s"});
  model.Operator("flag", "Eltwise", {"loop/step", "two"}, {"flag"}, {Less()})
      .Operator("double", "TestAffine", {"s"}, {"a"}, {Scale(2)})
      .Operator("add", "TestAdd", {"s", "x"}, {"b"})
      .Operator("choose", "Where", {"flag", "a", "b"}, {"t"});
  End(&model, "loop", "trips", {"s"}, {"t"}, {"y"});
  model.Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(2)}};
  const Names names = RunOperators(made, 5, &outputs);
  EXPECT_EQ(Values(outputs["y"]), (std::vector<float>{7, -21}));
  EXPECT_EQ(std::count(names.begin(), names.end(), "double"), 2);
  EXPECT_EQ(std::count(names.begin(), names.end(), "add"), 3);
}

// A loop that only one side needs.
TEST(ChoicesTest, MaySkipALoop) {
  ModelBuilder model = Inputs(2);
  model.Constant("two", {1}, std::vector<int32_t>{2})
      .Operator("flag", "Eltwise", {"two", "trips"}, {"flag"}, {Less()});
  Begin(&model, "loop", "trips", {"x"}, {"s"});
  model.Operator("double", "TestAffine", {"s"}, {"t"}, {Scale(2)});
  End(&model, "loop", "trips", {"s"}, {"t"}, {"a"});
  model.Operator("less", "TestAffine", {"a"}, {"b"}, {Scale(0.5f)})
      .Operator("other", "TestAffine", {"x"}, {"c"}, {Scale(10)})
      .Operator("choose", "Where", {"flag", "b", "c"}, {"y"})
      .Output("y");
  const MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(2)}};
  EXPECT_EQ(RunOperators(made, 2, &outputs),
            (Names{"flag", "other", "choose"}));
  EXPECT_EQ(Values(outputs["y"]), (std::vector<float>{10, -30}));
  EXPECT_EQ(RunOperators(made, 3, &outputs).size(), 10u);
  EXPECT_EQ(Values(outputs["y"]), (std::vector<float>{4, -12}));
}

}  // namespace
}  // namespace core_test
}  // namespace mace
