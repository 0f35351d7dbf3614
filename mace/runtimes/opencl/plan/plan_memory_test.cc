// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/plan_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mace/core/testing/model_builder.h"
#include "mace/runtimes/opencl/plan/plan_testing.h"

namespace mace {
namespace {

using core_test::ModelBuilder;
using opencl_test::Conv;
using opencl_test::Planned;
using opencl_test::Relu;
using opencl_test::Settings;
using opencl_test::Simulation;

// As half in padded buffers.
constexpr size_t kBytes = 2 * 8 * 8 * 8;

ModelBuilder Model() {
  ModelBuilder model;
  model.Input("x", {1, 8, 8, 8});
  Relu(&model, "x", "a");
  return model;
}

Settings Buffers() {
  Settings settings;
  settings.images = false;
  return settings;
}

// The tensors that are computed in the memory of their residual.
std::vector<std::string> InPlace(const Planned &planned) {
  std::vector<std::string> names;
  for (const PlannedLaunch &launch : planned.plan().launches) {
    if (!launch.launch.reads_residual_in_output()) continue;
    const GraphNode &node = planned.graph().nodes()[launch.nodes.back()];
    names.push_back(planned.graph().tensors()[node.outputs[0]].tensor.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(PlanMemoryTest, ImagesAreInTheBufferWhereTheDeviceCan) {
  // Of many sizes: images that are used again would be as large as all of them.
  ModelBuilder model;
  model.Input("x", {1, 64, 4, 8});
  const std::vector<core_test::Dims> shapes = {
      {1, 4, 64, 8}, {1, 64, 4, 8}, {1, 16, 16, 8}, {1, 2, 128, 8}};
  std::string last = "x";
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string from = "from " + std::to_string(i);
    const std::string to = "to " + std::to_string(i);
    opencl_test::Reshape(&model, last, from, shapes[i]);
    Relu(&model, from, to);
    last = to;
  }
  Relu(&model, last, "y");
  model.Output("y");
  Settings settings;
  const Planned own(model, settings);
  settings.views = {16, 1024};
  const Planned views(model, settings);
  ASSERT_TRUE(own.made() && views.made());
  EXPECT_TRUE(IsImage(views.StorageOf(last)));
  size_t own_bytes = own.plan().memory.arena_bytes;
  for (const ImageSlot &image : own.plan().images) own_bytes += image.Bytes();
  EXPECT_LT(views.plan().memory.arena_bytes, own_bytes);
  for (const ImageSlot &image : views.plan().images) {
    EXPECT_GE(image.request, 0);
  }
  Simulation(views).Run();
}

TEST(PlanMemoryTest, OutputsTakeTheMemoryOfTheirResidual) {
  ModelBuilder model = Model();
  Conv(&model, "a", "b", 8);
  Conv(&model, "b", "c", 8, "a");
  Conv(&model, "c", "d", 8);
  Conv(&model, "d", "e", 8, "c");
  Relu(&model, "e", "y");
  model.Output("y");
  const Planned planned(model, Buffers());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(InPlace(planned), (Names{"c", "e"}));
  const OpenclPlan &plan = planned.plan();
  const auto offset = [&](const char *name) {
    return plan.memory.offsets[plan.request_of[planned.IndexOf(name)]];
  };
  EXPECT_EQ(offset("a"), offset("c"));
  EXPECT_EQ(offset("a"), offset("e"));
  // Beside it, the input and the output, which are float, and b and d: one at a
  // time.
  EXPECT_EQ(plan.memory.arena_bytes, kBytes + 2 * kBytes);
  Simulation(planned).Run();
}

TEST(PlanMemoryTest, WhatIsReadLaterIsKept) {
  ModelBuilder model = Model();
  Conv(&model, "a", "b", 8);
  Conv(&model, "b", "c", 8, "a");
  Conv(&model, "c", "d", 8, "a");
  Relu(&model, "d", "y");
  model.Output("y");
  const Planned planned(model, Buffers());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(InPlace(planned), (Names{"d"}));
  Simulation(planned).Run();
}

TEST(PlanMemoryTest, WhatIsReadElsewhereIsKept) {
  ModelBuilder model = Model();
  Conv(&model, "a", "b", 8, "a");
  Relu(&model, "b", "y");
  model.Output("y");
  const Planned planned(model, Buffers());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(InPlace(planned), Names());
  Simulation(planned).Run();
}

TEST(PlanMemoryTest, InputsAreStoredInAnotherWay) {
  ModelBuilder model = Model();
  Conv(&model, "a", "b", 8, "x");
  Relu(&model, "b", "y");
  model.Output("y");
  const Planned planned(model, Buffers());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(InPlace(planned), Names());
  Simulation(planned).Run();
}

TEST(PlanMemoryTest, OutputsOfTheModelAreKept) {
  ModelBuilder model = Model();
  Conv(&model, "a", "b", 8);
  Conv(&model, "b", "c", 8, "a");
  model.Output("a").Output("c");
  const Planned planned(model, Buffers());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(InPlace(planned), Names());
  Simulation(planned).Run();
}

TEST(PlanMemoryTest, PartsAreKept) {
  ModelBuilder model = Model();
  Relu(&model, "x", "a2");
  model.Operator("join", "Concat", {"a", "a2"}, {"both"},
                 {core_test::IntAttribute("axis", 3)});
  Conv(&model, "both", "b", 16);
  Conv(&model, "b", "c", 16, "both");
  Relu(&model, "c", "y");
  model.Output("y");
  const Planned planned(model, Buffers());
  ASSERT_TRUE(planned.made());
  EXPECT_TRUE(planned.Same("a", "both"));
  EXPECT_EQ(InPlace(planned), Names());
  Simulation(planned).Run();
}

TEST(PlanMemoryTest, NoKernelReadsTheImageThatItWrites) {
  ModelBuilder model = Model();
  Conv(&model, "a", "b", 8);
  Conv(&model, "b", "c", 8, "a");
  Relu(&model, "c", "y");
  model.Output("y");
  const Planned planned(model, Settings());
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(planned.StorageOf("c"), GpuStorage::kImageHalf);
  EXPECT_EQ(InPlace(planned), Names());
  Simulation(planned).Run();
}

}  // namespace
}  // namespace mace
