// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::Floats;
using core_test::MadeEngine;
using core_test::Make;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::Ramp;
using core_test::Room;
using core_test::Scale;
using core_test::Tensors;
using core_test::Values;

// Whether the tensor of that name was computed in place, from the report of an
// engine that has run.
bool InItsPlace(const MaceEngine &engine, const std::string &op) {
  const std::string text = engine.Explain();
  const size_t at = text.find("'" + op + "'");
  const size_t end = text.find('\n', at);
  return at != std::string::npos &&
         text.substr(at, end - at).find("in its place") != std::string::npos;
}

std::vector<float> RunOnce(const MadeEngine &made,
                           const Dims &dims,
                           const std::vector<float> &x,
                           const std::string &output,
                           int64_t room) {
  Tensors outputs = {{output, Room(room)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats(dims, x)}}, &outputs);
  EXPECT_TRUE(status == MaceStatus::MACE_SUCCESS) << status.information();
  return Values(outputs[output]);
}

TEST(EnginePartsTest, PartsOfPartsAreComputedInTheirPlace) {
  // p = [2x, 3x], read before and after it is a part of q = [p, 5x]
  MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {3, 1})
               .Operator("two", "TestAffine", {"x"}, {"a"}, {Scale(2)})
               .Operator("three", "TestAffine", {"x"}, {"b"}, {Scale(3)})
               .Operator("inner", "TestJoin", {"a", "b"}, {"p"})
               .Operator("five", "TestAffine", {"x"}, {"c"}, {Scale(5)})
               .Operator("outer", "TestJoin", {"p", "c"}, {"q"})
               .Operator("late", "TestAffine", {"p"}, {"r"}, {Scale(10)})
               .Operator("again", "TestAffine", {"q"}, {"s"}, {Scale(1)})
               .Operator("all", "TestJoin", {"s", "r"}, {"t"})
               .Operator("end", "TestAffine", {"t"}, {"u"}, {Scale(1)})
               .Output("u"));
  ASSERT_OK(made.status);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(RunOnce(made, {3, 1}, {1, 2, 3}, "u", 15),
              (std::vector<float>{2, 3, 5, 20, 30, 4, 6, 10, 40, 60, 6, 9, 15,
                                  60, 90}));
  }
  for (const char *op : {"two", "three", "inner", "five", "late", "again"}) {
    EXPECT_TRUE(InItsPlace(*made.engine, op)) << op << made.engine->Explain();
  }
}

TEST(EnginePartsTest, AreCopiedWhereAnOperatorNeedsThemDense) {
  MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {2, 2})
               .Operator("a", "TestAffine", {"x"}, {"a"}, {Scale(2)})
               .Operator("b", "TestAffine", {"x"}, {"b"}, {Scale(3)})
               .Operator("sums", "TestCumulative", {"a"}, {"c"})
               .Operator("join", "TestJoin", {"a", "b", "a", "x"}, {"p"})
               .Operator("double", "TestJoin", {"p", "c"}, {"q"})
               .Operator("end", "TestAffine", {"q"}, {"u"}, {Scale(1)})
               .Output("u"));
  ASSERT_OK(made.status);
  EXPECT_EQ(RunOnce(made, {2, 2}, {1, 2, 3, 4}, "u", 20),
            (std::vector<float>{2, 4, 3, 6,  2, 4, 1, 2, 2,  6,
                                6, 8, 9, 12, 6, 8, 3, 4, 12, 20}));
  EXPECT_FALSE(InItsPlace(*made.engine, "a"));
  EXPECT_TRUE(InItsPlace(*made.engine, "b"));
  EXPECT_FALSE(InItsPlace(*made.engine, "sums"));
  EXPECT_TRUE(InItsPlace(*made.engine, "join"));
}

TEST(EnginePartsTest, OfOneRowAreDenseForEveryOperator) {
  MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {1, 3})
               .Operator("sums", "TestCumulative", {"x"}, {"a"})
               .Operator("b", "TestAffine", {"x"}, {"b"}, {Scale(3)})
               .Operator("join", "TestJoin", {"b", "a"}, {"p"})
               .Operator("end", "TestCumulative", {"p"}, {"u"})
               .Output("u"));
  ASSERT_OK(made.status);
  EXPECT_EQ(RunOnce(made, {1, 3}, {1, 2, 3}, "u", 6),
            (std::vector<float>{3, 9, 18, 19, 22, 28}));
  EXPECT_TRUE(InItsPlace(*made.engine, "sums"));
}

TEST(EnginePartsTest, OutputsOfTheGraphAreDense) {
  MakeOptions options;
  options.outputs = {"a", "p"};
  MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {2, 1})
               .Operator("a", "TestAffine", {"x"}, {"a"}, {Scale(2)})
               .Operator("b", "TestAffine", {"x"}, {"b"}, {Scale(3)})
               .Operator("join", "TestJoin", {"a", "b"}, {"p"})
               .Output("p"),
           options);
  ASSERT_OK(made.status);
  // Unaligned room: the outputs are copied at the border.
  std::vector<float> memory(9, -1);
  std::shared_ptr<float> a(memory.data() + 1, [](float *) {});
  std::shared_ptr<float> p(memory.data() + 5, [](float *) {});
  Tensors outputs = {{"a", MaceTensor({2}, a)}, {"p", MaceTensor({4}, p)}};
  ASSERT_OK(made.engine->Run({{"x", Floats({2, 1}, {1, 2})}}, &outputs));
  EXPECT_EQ(memory, (std::vector<float>{-1, 2, 4, -1, -1, 2, 3, 4, 6}));
}

// A graph of random operators that read random tensors.
struct RandomGraph {
  ModelBuilder model;
  std::vector<std::string> names;
  std::vector<int64_t> widths;
};

RandomGraph MakeRandomGraph(std::mt19937 *random) {
  const auto pick = [random](size_t count) {
    return static_cast<size_t>((*random)() % count);
  };
  RandomGraph graph;
  graph.model.Input("x", {4, 3});
  graph.names = {"x"};
  graph.widths = {3};
  const size_t operators = 3 + pick(25);
  for (size_t i = 0; i < operators; ++i) {
    const std::string name = "t" + std::to_string(i);
    // Mostly late tensors, as in a network.
    const auto any = [&] {
      const size_t count = graph.names.size();
      return pick(3) == 0 ? pick(count)
                          : count - 1 - pick(std::min<size_t>(4, count));
    };
    const size_t first = any();
    int64_t width = graph.widths[first];
    std::vector<std::string> inputs = {graph.names[first]};
    const char *type = "TestAffine";
    std::vector<std::string> attributes = {Scale(0.5f)};
    const size_t kind = pick(8);
    if (kind >= 4 && width < 60) {
      type = "TestJoin";
      attributes.clear();
      for (size_t more = 1 + pick(3); more-- > 0;) {
        const size_t other = any();
        inputs.push_back(graph.names[other]);
        width += graph.widths[other];
      }
    } else if (kind == 3) {
      type = "TestCumulative";
      attributes.clear();
    } else if (kind == 2) {
      type = "TestAdd";
      attributes.clear();
      const size_t other = any();
      const bool same = graph.widths[other] == width;
      inputs.push_back(same ? graph.names[other] : inputs[0]);
    }
    graph.model.Operator("op" + std::to_string(i), type, inputs, {name},
                         attributes);
    graph.names.push_back(name);
    graph.widths.push_back(width);
  }
  // Only one output is wanted, so that most tensors belong to the engine.
  graph.model.Operator("last", "TestAffine", {graph.names.back()}, {"y"},
                       {Scale(1)});
  graph.model.Output("y");
  return graph;
}

TEST(EnginePartsPropertyTest, AnyGraphGivesWhatItGivesTensorByTensor) {
  constexpr uint32_t kSeed = 20261121;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  int with_parts = 0;
  for (int round = 0; round < 400; ++round) {
    const RandomGraph graph = MakeRandomGraph(&random);
    const std::vector<float> x = Ramp(12);
    const int64_t room = 4 * graph.widths.back();
    // Every tensor is in its own buffer: nothing is shared.
    MakeOptions options;
    options.outputs.assign(graph.names.begin() + 1, graph.names.end());
    options.outputs.push_back("y");
    const MadeEngine apart = Make(graph.model, options);
    ASSERT_OK(apart.status);
    Tensors outputs;
    for (size_t i = 1; i < graph.names.size(); ++i) {
      outputs.emplace(graph.names[i], Room(4 * graph.widths[i]));
    }
    outputs.emplace("y", Room(room));
    ASSERT_OK(apart.engine->Run({{"x", Floats({4, 3}, x)}}, &outputs));
    const MadeEngine made = Make(graph.model);
    ASSERT_OK(made.status);
    ASSERT_EQ(RunOnce(made, {4, 3}, x, "y", room), Values(outputs["y"]))
        << "round " << round << '\n'
        << made.engine->Explain();
    with_parts +=
        made.engine->Explain().find("in its place") != std::string::npos;
  }
  EXPECT_GT(with_parts, 100);
}

}  // namespace
}  // namespace mace
