// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/operator_stats.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "mace/core/model/model.h"
#include "mace/core/testing/model_builder.h"
#include "mace/core/testing/no_host.h"

namespace mace {
namespace {

// relu(x W + b), then its softmax: x is [2, 3], W is [5, 3].
class OperatorStatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const MaceStatus status = Make();
    ASSERT_TRUE(IsOk(status)) << status.information();
  }

  OperatorStats Describe(const std::vector<int> &nodes) {
    OperatorStats stats = {};
    DescribeOperators(*graph_, nodes, *shapes_, reports_, &stats);
    return stats;
  }

  std::vector<OpReport> reports_;

 private:
  MaceStatus Make() {
    core_test::ModelBuilder builder;
    builder.Input("x", {2, 3}, DataType::kFloat32, DataFormat::NONE);
    // Of 5 rows, padded to 16.
    builder.RawConstant(
        "w", {5, 3}, DataType::kFloat32, ConstantLayout::kPackedO16, 1,
        builder.AppendWeights(weights_, sizeof(weights_)), sizeof(weights_));
    builder.Operator("product", "FullyConnected", {"x", "w"}, {"logits"});
    builder.Operator("softmax", "Softmax", {"logits"}, {"y"});
    builder.Output("y", DataFormat::NONE);
    file_ = builder.graph();
    MACE_ASSIGN_OR_RETURN(model_, ReadModel(file_.data(), file_.size()));
    MACE_RETURN_IF_ERROR(CheckModelStructure(model_, sizeof(weights_)));
    MACE_RETURN_IF_ERROR(CheckOperators(model_));
    MACE_ASSIGN_OR_RETURN(graph_,
                          Graph::Create(model_, weights_, {"y"}, &host_));
    MACE_ASSIGN_OR_RETURN(shapes_, InferShapes(*graph_, {{2, 3}}, &host_));
    reports_.resize(graph_->nodes().size());
    return MaceStatus();
  }

  alignas(64) unsigned char weights_[16 * 3 * sizeof(float)] = {};
  std::string file_;
  Model model_;
  core_test::NoHost host_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<GraphShapes> shapes_;
};

TEST_F(OperatorStatsTest, ThoseTogetherAreNamedByTheHeaviest) {
  const OperatorStats stats = Describe({0, 1});
  EXPECT_EQ(stats.operator_name, "product");
  EXPECT_EQ(stats.type, "FullyConnected");
  EXPECT_EQ(stats.macs, 2 * 5 * 3);
  EXPECT_EQ(stats.output_shape, (std::vector<std::vector<int64_t>>{{2, 5}}));
  // What is between them is neither written nor read.
  EXPECT_EQ(stats.bytes + 2 * (2 * 5 * 4),
            Describe({0}).bytes + Describe({1}).bytes);
}

TEST_F(OperatorStatsTest, OneIsNamedByItself) {
  const OperatorStats stats = Describe({1});
  EXPECT_EQ(stats.operator_name, "softmax");
  EXPECT_EQ(stats.macs, 0);
  EXPECT_EQ(stats.bytes, 2 * (2 * 5 * 4));
}

// As a depthwise convolution and its pointwise one, whose own weights do not
// tell the former's work.
TEST_F(OperatorStatsTest, WhatAnOperatorReportsReplacesTheEstimate) {
  reports_[1].macs = 1000;
  reports_[1].geometry.strides = {2, 1};
  const OperatorStats stats = Describe({0, 1});
  EXPECT_EQ(stats.operator_name, "softmax");
  EXPECT_EQ(stats.macs, 2 * 5 * 3 + 1000);
  EXPECT_EQ(stats.args.strides, (std::vector<int>{2, 1}));
}

}  // namespace
}  // namespace mace
