// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The example of a delegate of an application, and how one is registered.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/examples/delegate/adding_delegate.h"
#include "mace/public/mace.h"
#include "mace/public/mace_delegate.h"
#include "test/delegates/delegate_testing.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::StringAttribute;
using delegate_testing::MakeOn;
using delegate_testing::OperatorsOn;
using delegate_testing::RunNetwork;

// y = tanh(relu(x + c) + x)
core_test::ModelBuilder Network() {
  core_test::ModelBuilder model;
  model.Input("x", {1, 2, 3, 2})
      .Constant("c", {1, 2, 3, 2}, core_test::Ramp(12, -6))
      .Operator("add", "Eltwise", {"x", "c"}, {"s"},
                {StringAttribute("mode", "ADD")})
      .Operator("relu", "Activation", {"s"}, {"r"},
                {StringAttribute("activation", "RELU")})
      .Operator("again", "Eltwise", {"r", "x"}, {"t"},
                {StringAttribute("mode", "ADD")})
      .Operator("tanh", "Activation", {"t"}, {"y"},
                {StringAttribute("activation", "TANH")})
      .Output("y");
  return model;
}

const Dims kShape = {1, 2, 3, 2};
constexpr int64_t kElements = 12;

MaceStatus Fail(const DelegateOptions &, std::unique_ptr<Delegate> *) {
  return MaceStatus(MaceStatus::MACE_UNSUPPORTED, "no such chip here");
}

TEST(OwnDelegateTest, ComputesWhatItTakes) {
  EXPECT_CODE(RegisterDelegate(RT_NPU, adding_delegate::Make), MACE_SUCCESS);
  const auto made = MakeOn(RT_NPU, Network());
  EXPECT_EQ(RunNetwork(made, kShape, kElements),
            delegate_testing::OnCpu(Network(), kShape, kElements));
  EXPECT_EQ(OperatorsOn(made, NPU), 3);
  const auto last = made.engine->GetPlacement().operators[3];
  ASSERT_EQ(last.refusals.size(), 1u);
  EXPECT_EQ(last.refusals[0].reason, "it only adds and applies ReLU");
}

TEST(OwnDelegateTest, ReportsOneTimeForASegment) {
  EXPECT_CODE(RegisterDelegate(RT_NPU, adding_delegate::Make), MACE_SUCCESS);
  const auto made = MakeOn(RT_NPU, Network());
  RunMetadata metadata;
  core_test::Tensors outputs = {{"y", core_test::Room(kElements)}};
  ASSERT_OK(made.engine->Run(
      {{"x", core_test::Floats(kShape, core_test::Ramp(kElements))}}, &outputs,
      &metadata));
  ASSERT_EQ(metadata.op_stats.size(), 2u);
  EXPECT_EQ(metadata.op_stats[0].device, NPU);
  EXPECT_GE(metadata.op_stats[0].stats.duration_nanos, 0);
  ASSERT_EQ(metadata.border_copies.size(), 1u);
  EXPECT_EQ(metadata.border_copies[0].to, NPU);
}

TEST(OwnDelegateTest, MayBeReplacedAndMayFail) {
  EXPECT_CODE(RegisterDelegate(RT_NPU, adding_delegate::Make), MACE_SUCCESS);
  EXPECT_CODE(RegisterDelegate(RT_NPU, Fail), MACE_SUCCESS);
  const auto made = MakeOn(RT_NPU, Network());
  RunNetwork(made, kShape, kElements);
  const auto left_out = made.engine->GetPlacement().left_out;
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].reason, "no such chip here");
}

// What a delegate that takes convolutions, but compiles none, was given.
struct Given {
  int questions = 0;
  float largest_asked = 0;
  float largest_compiled = 0;
};
Given g_given;

class WatchingDelegate final : public Delegate {
 public:
  std::string Version() const override { return "1"; }
  std::string Refusal(const DelegateSegment &segment) override {
    if (segment.operators[0].type != "Conv2D") return "it only convolves";
    ++g_given.questions;
    g_given.largest_asked = Largest(segment);
    return std::string();
  }
  MaceStatus Compile(const DelegateSegment &segment,
                     std::unique_ptr<DelegateNetwork> * /*network*/) override {
    g_given.largest_compiled = Largest(segment);
    return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR, "it compiles nothing");
  }

 private:
  // Of the filter.
  static float Largest(const DelegateSegment &segment) {
    const DelegateTensor &filter =
        segment.tensors[static_cast<size_t>(segment.operators[0].input(1))];
    int64_t elements = 1;
    for (int64_t dim : filter.shape) elements *= dim;
    const auto *values = static_cast<const float *>(filter.data);
    return *std::max_element(values, values + elements);
  }
};

MaceStatus Watch(const DelegateOptions &, std::unique_ptr<Delegate> *delegate) {
  *delegate = std::make_unique<WatchingDelegate>();
  return MaceStatus();
}

TEST(OwnDelegateTest, IsAskedOnceAndWithoutPackedWeights) {
  EXPECT_CODE(RegisterDelegate(RT_NPU, Watch), MACE_SUCCESS);
  g_given = Given();
  const auto network = delegate_testing::FloatNetwork();
  const auto made = MakeOn(RT_NPU, network);
  EXPECT_EQ(RunNetwork(made, {1, 6, 6, 3}, 4),
            delegate_testing::OnCpu(network, {1, 6, 6, 3}, 4));
  EXPECT_EQ(g_given.questions, 1);
  EXPECT_EQ(g_given.largest_asked, 0);
  EXPECT_EQ(g_given.largest_compiled, 1);
}

TEST(OwnDelegateTest, IsNotForOtherRuntimes) {
  for (RuntimeType type : {RT_CPU, RT_OPENCL, RT_HEXAGON}) {
    const MaceStatus status = RegisterDelegate(type, adding_delegate::Make);
    EXPECT_CODE(status, MACE_INVALID_ARGS);
    EXPECT_MENTIONS(status, "RT_NPU");
  }
  EXPECT_CODE(RegisterDelegate(RT_NPU, nullptr), MACE_INVALID_ARGS);
}

}  // namespace
}  // namespace mace
