// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The check for NaN and infinity on the GPU.

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "test/opencl/on_test_driver.h"

namespace mace {
namespace {

using core_test::MadeEngine;
using core_test::MakeOptions;
using core_test::ModelBuilder;

constexpr int64_t kElements = 6 * 5 * 3;

// y = tanh(1000 x): the product may be too large for half.
MadeEngine MakeScaling(const std::string &data_type, bool check) {
  ModelBuilder model;
  model.Input("x", {1, 6, 5, 3})
      .Constant("c", {1}, std::vector<float>{1000})
      .Operator("scale", "Eltwise", {"x", "c"}, {"a"},
                {core_test::StringAttribute("mode", "MUL")})
      .Operator("tanh", "Activation", {"a"}, {"y"},
                {core_test::StringAttribute("activation", "TANH")})
      .Output("y")
      .DataTypes(data_type);
  MakeOptions options;
  EXPECT_CODE(options.config.SetRuntimeTypes({RT_OPENCL, RT_CPU}),
              MACE_SUCCESS);
  EXPECT_CODE(options.config.SetOutOfRangeCheck(check), MACE_SUCCESS);
  return core_test::Make(model, options);
}

MaceStatus RunWith(const MadeEngine &made, float value) {
  std::vector<float> x(kElements, 1);
  x[(3 * 5 + 2) * 3 + 1] = value;
  core_test::Tensors outputs = {{"y", core_test::Room(kElements)}};
  return made.engine->Run({{"x", core_test::Floats({1, 6, 5, 3}, x)}},
                          &outputs);
}

class OutOfRangeTest : public ::testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    setenv("MACE_OPENCL_STORAGE", GetParam(), 1);
  }
};

TEST_P(OutOfRangeTest, NamesTheOperatorAndThePosition) {
  const MadeEngine made = MakeScaling("fp16_fp32", true);
  ASSERT_OK(made.status);
  ASSERT_OK(RunWith(made, 10));
  const MaceStatus status = RunWith(made, 100);
  EXPECT_CODE(status, MACE_RUNTIME_ERROR);
  EXPECT_MENTIONS(status, "operator 'scale' (Eltwise)");
  EXPECT_MENTIONS(status, "inf at [0, 3, 2, 1] of 'a' [1, 6, 5, 3]");
  EXPECT_MENTIONS(status, "by kernel ");
  EXPECT_MENTIONS(status, std::string(GetParam()) + " of half");
  EXPECT_MENTIONS(status, "data_type: fp32_fp32");
  // The GPU is still used afterwards.
  ASSERT_OK(RunWith(made, 10));
  EXPECT_EQ(made.engine->GetPlacement().operators[0].device, DeviceType::GPU);
}

TEST_P(OutOfRangeTest, AcceptsWhatFloatHolds) {
  const MadeEngine made = MakeScaling("fp32_fp32", true);
  ASSERT_OK(made.status);
  ASSERT_OK(RunWith(made, 100));
  const MaceStatus status = RunWith(made, 1e38f);
  EXPECT_CODE(status, MACE_RUNTIME_ERROR);
  EXPECT_MENTIONS(status, "operator 'scale'");
  EXPECT_MENTIONS(status, "all its inputs are finite");
}

TEST_P(OutOfRangeTest, NamesAnInput) {
  const MadeEngine made = MakeScaling("fp16_fp32", true);
  ASSERT_OK(made.status);
  const MaceStatus status =
      RunWith(made, std::numeric_limits<float>::quiet_NaN());
  EXPECT_CODE(status, MACE_RUNTIME_ERROR);
  EXPECT_MENTIONS(status, "an input already contains NaN or infinity");
  EXPECT_MENTIONS(status, "[0, 3, 2, 1] of 'x'");
}

TEST_P(OutOfRangeTest, IsOffUnlessAsked) {
  const MadeEngine made = MakeScaling("fp16_fp32", false);
  ASSERT_OK(made.status);
  ASSERT_OK(RunWith(made, 100));
}

INSTANTIATE_TEST_SUITE_P(Storage,
                         OutOfRangeTest,
                         ::testing::Values("buffer", "image"));

const ::testing::Environment *const on_test_driver =
    ::testing::AddGlobalTestEnvironment(new test_opencl::OnTestDriver);

}  // namespace
}  // namespace mace
