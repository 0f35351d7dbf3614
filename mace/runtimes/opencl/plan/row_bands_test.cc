// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/row_bands.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/testing/model_builder.h"
#include "mace/runtimes/opencl/plan/plan_testing.h"

namespace mace {
namespace {

using core_test::IntsAttribute;
using core_test::ModelBuilder;
using core_test::StringAttribute;
using opencl_test::Conv;
using opencl_test::KernelsOf;
using opencl_test::Names;
using opencl_test::Planned;
using opencl_test::Relu;
using opencl_test::Settings;
using opencl_test::Simulation;

WindowAxis Axis(int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
  WindowAxis axis;
  axis.size = size;
  axis.kernel = kernel;
  axis.stride = stride;
  axis.pad_before = axis.pad_after = pad;
  axis.output = (size + 2 * pad - kernel) / stride + 1;
  return axis;
}

TEST(RowBandsTest, BandsNeedTheRowsOfTheirWindows) {
  const auto rows = [](const WindowAxis &axis, int64_t begin, int64_t end) {
    const RowRange range = RowsUnder(axis, {begin, end});
    return std::pair(static_cast<int>(range.begin),
                     static_cast<int>(range.end));
  };
  const WindowAxis three = Axis(10, 3, 1, 1);
  EXPECT_EQ(rows(three, 0, 5), std::pair(0, 6));
  EXPECT_EQ(rows(three, 5, 10), std::pair(4, 10));
  const WindowAxis halves = Axis(10, 3, 2, 1);
  EXPECT_EQ(rows(halves, 0, 2), std::pair(0, 4));
  EXPECT_EQ(rows(halves, 2, 5), std::pair(3, 10));
  WindowAxis dilated = Axis(20, 3, 1, 4);
  dilated.dilation = 4;
  EXPECT_EQ(rows(dilated, 7, 9), std::pair(3, 13));
  // Windows that are in the padding as a whole.
  const WindowAxis padded = Axis(4, 2, 1, 5);
  EXPECT_EQ(rows(padded, 0, 2), std::pair(0, 1));
  EXPECT_EQ(rows(padded, 12, 13), std::pair(3, 4));
}

// A 3x3 convolution of each channel, as large as its input.
void Depthwise(ModelBuilder *model,
               const std::string &from,
               const std::string &to,
               int64_t channels,
               int64_t stride = 1) {
  const std::string filter = "filter of " + to;
  model->Constant(filter, {3, 3, channels, 1},
                  std::vector<float>(static_cast<size_t>(9 * channels)));
  model->Operator("op of " + to, "DepthwiseConv2d", {from, filter}, {to},
                  {StringAttribute("padding", "SAME"),
                   IntsAttribute("strides", {stride, stride})});
}

// From 4 channels to 32 and back.
void Expansion(ModelBuilder *model) {
  model->Input("x", {1, 32, 16, 4});
  Relu(model, "x", "a");
  const std::vector<float> weights(32 * 4);
  const uint64_t offset =
      model->AppendWeights(weights.data(), weights.size() * sizeof(float));
  model->RawConstant("expand", {32, 1, 1, 4}, DataType::kFloat32,
                     ConstantLayout::kPackedO16, 1, offset,
                     weights.size() * sizeof(float));
  model->Operator("op of b", "Conv2D", {"a", "expand"}, {"b"});
  Depthwise(model, "b", "c", 32, 4);
}

Settings Bands(bool images) {
  Settings settings;
  settings.images = images;
  settings.bands = true;
  return settings;
}

size_t BytesOf(const Planned &planned) {
  size_t bytes = planned.plan().memory.arena_bytes;
  for (const ImageSlot &image : planned.plan().images) {
    bytes += image.width * image.height * 4 * DataTypeSize(image.element);
  }
  return bytes;
}

TEST(RowBandsTest, TheLargestTensorIsComputedInBands) {
  for (const bool images : {false, true}) {
    SCOPED_TRACE(images);
    ModelBuilder model;
    Expansion(&model);
    Relu(&model, "c", "y");
    model.Output("y");
    Settings settings = Bands(images);
    const Planned in_bands(model, settings);
    settings.bands = false;
    const Planned whole(model, settings);
    ASSERT_TRUE(in_bands.made() && whole.made());
    EXPECT_LT(BytesOf(in_bands), BytesOf(whole) * 3 / 5);
    const std::vector<std::string> kernels = KernelsOf(in_bands);
    ASSERT_EQ(kernels.size() % 2, 0u);
    ASSERT_GE(kernels.size(), 6u);
    for (size_t i = 1; i + 1 < kernels.size(); i += 2) {
      EXPECT_EQ(kernels[i], "conv2d");
      EXPECT_EQ(kernels[i + 1], "depthwise");
      const PlannedLaunch &launch = in_bands.plan().launches[i];
      EXPECT_EQ(launch.nodes, std::vector<int>{1});
      EXPECT_EQ(launch.group, (std::vector<int>{1, 2}));
    }
    Simulation(in_bands).Run();
  }
}

// The rows of the output that launches write, of the tensor `name`.
std::map<int64_t, int64_t> WrittenRows(const Planned &planned,
                                       const std::string &name) {
  std::map<int64_t, int64_t> rows;
  const int id = planned.plan().tensors[planned.IndexOf(name)].id;
  for (const PlannedLaunch &launch : planned.plan().launches) {
    for (size_t i = 0; i < launch.tensors.size(); ++i) {
      if (launch.launch.arguments()[i].kind != LaunchArgument::Kind::kOutput) {
        continue;
      }
      const GpuTensor &tensor = planned.plan().tensors[launch.tensors[i]];
      if (tensor.id == id) rows[tensor.first_row] = tensor.dims.h;
    }
  }
  return rows;
}

TEST(RowBandsTest, EveryRowIsComputedOnce) {
  ModelBuilder model;
  Expansion(&model);
  Relu(&model, "c", "y");
  model.Output("y");
  const Planned planned(model, Bands(false));
  ASSERT_TRUE(planned.made());
  int64_t next = 0;
  for (const auto &[first, count] : WrittenRows(planned, "c")) {
    EXPECT_EQ(first, next);
    next = first + count;
  }
  EXPECT_EQ(next, 8);
}

TEST(RowBandsTest, WhatOthersReadIsWhole) {
  // Somebody else reads it, or it is an output.
  for (const bool is_output : {false, true}) {
    ModelBuilder model;
    Expansion(&model);
    Relu(&model, "c", "y");
    if (is_output) {
      model.Output("b");
    } else {
      Relu(&model, "b", "z");
      model.Output("z");
    }
    model.Output("y");
    const Planned planned(model, Bands(false));
    ASSERT_TRUE(planned.made());
    EXPECT_EQ(WrittenRows(planned, "b").size(), 1u);
    Simulation(planned).Run();
  }
}

TEST(RowBandsTest, BatchesAndResidualsAreWhole) {
  ModelBuilder model;
  model.Input("x", {2, 32, 16, 8});
  Conv(&model, "x", "a", 8);
  Depthwise(&model, "a", "b", 8, 4);
  Relu(&model, "b", "y");
  model.Output("y");
  const Planned batch(model, Bands(false));
  ASSERT_TRUE(batch.made());
  EXPECT_EQ(batch.plan().launches.size(), 3u);

  ModelBuilder second;
  second.Input("x", {1, 32, 16, 8}).Input("r", {1, 32, 16, 8});
  Conv(&second, "x", "a", 8, "r");
  Depthwise(&second, "a", "b", 8, 4);
  Relu(&second, "b", "y");
  second.Output("y");
  const Planned residual(second, Bands(false));
  ASSERT_TRUE(residual.made());
  EXPECT_EQ(residual.plan().launches.size(), 3u);
}

// What is computed in bands may be a part of a larger tensor.
TEST(RowBandsTest, BandsOfTensorsThatAreJoined) {
  for (const bool images : {false, true}) {
    for (const int64_t axis : {1, 3}) {
      SCOPED_TRACE(testing::Message() << images << " " << axis);
      ModelBuilder model;
      Expansion(&model);
      Relu(&model, "c", "d");
      model.Operator("join", "Concat", {"c", "d"}, {"e"},
                     {core_test::IntAttribute("axis", axis)});
      Relu(&model, "e", "y");
      model.Output("y");
      const Planned planned(model, Bands(images));
      ASSERT_TRUE(planned.made());
      EXPECT_GE(WrittenRows(planned, "c").size(), 2u);
      Simulation(planned).Run();
    }
  }
}

TEST(RowBandsTest, ALaunchMustSaveItsShare) {
  // Each of many tensors is as large: no chain makes the memory smaller.
  ModelBuilder model;
  model.Input("x", {1, 32, 16, 8});
  std::string last = "x";
  for (const char *name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    Depthwise(&model, last, name, 8);
    last = name;
  }
  Relu(&model, "h", "y");
  model.Output("y");
  const Planned planned(model, Bands(false));
  ASSERT_TRUE(planned.made());
  EXPECT_EQ(planned.plan().launches.size(), 9u);
}

}  // namespace
}  // namespace mace
