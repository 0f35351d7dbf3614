// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that run band by band compute what they compute as a whole, to the
// bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "test/opencl/engine_testing.h"
#include "test/opencl/on_test_driver.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::IntsAttribute;
using core_test::MadeEngine;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::StringAttribute;
using op_test::Random;
using test_opencl::AddPacked;
using test_opencl::Some;

const char kBands[] = "MACE_OPENCL_BANDS";
const char kStorage[] = "MACE_OPENCL_STORAGE";

// Sizes that bands do not divide, windows with strides, dilations and padding,
// and rows that are expanded between them.
ModelBuilder Network(DataFormat format, const std::string &data_type) {
  Random random(3, Random::Quiet());
  const bool nchw = format == DataFormat::NCHW;
  ModelBuilder model;
  model.Input("x", nchw ? Dims{1, 3, 43, 22} : Dims{1, 43, 22, 3},
              DataType::kFloat32, format);
  AddPacked("f1", {16, 3, 3, 3}, &random, &model);
  AddPacked("f2", {50, 1, 1, 16}, &random, &model);
  AddPacked("f3", {12, 1, 1, 50}, &random, &model);
  AddPacked("f4", {36, 3, 3, 12}, &random, &model);
  model.Constant("d1", {3, 3, 50, 1}, Some(9 * 50, &random))
      .Constant("d2", {5, 3, 36, 1}, Some(15 * 36, &random))
      .Constant("b1", {16}, Some(16, &random))
      .Constant("b2", {50}, Some(50, &random))
      .Operator("conv1", "Conv2D", {"x", "f1", "b1"}, {"a"},
                {StringAttribute("padding", "SAME"),
                 StringAttribute("activation", "RELU")})
      .Operator("expand", "Conv2D", {"a", "f2", "b2"}, {"b"},
                {StringAttribute("activation", "RELU")})
      .Operator("depthwise", "DepthwiseConv2d", {"b", "d1"}, {"c"},
                {StringAttribute("padding", "EXPLICIT"),
                 IntsAttribute("pads", {2, 1, 0, 1}),
                 IntsAttribute("strides", {2, 2})})
      .Operator("project", "Conv2D", {"c", "f3"}, {"d"})
      .Operator("conv2", "Conv2D", {"d", "f4"}, {"e"},
                {StringAttribute("padding", "SAME"),
                 IntsAttribute("dilations", {3, 2})})
      .Operator(
          "average", "Pooling", {"e"}, {"g"},
          {IntsAttribute("kernels", {3, 3}), IntsAttribute("strides", {2, 2}),
           StringAttribute("mode", "AVG"), StringAttribute("padding", "SAME")})
      .Operator("wide", "DepthwiseConv2d", {"g", "d2"}, {"h"},
                {StringAttribute("padding", "SAME")})
      .Operator("tanh", "Activation", {"h"}, {"y"},
                {StringAttribute("activation", "TANH")})
      .Output("y")
      .DataTypes(data_type);
  return model;
}

constexpr int64_t kOutputs = 11 * 6 * 36;

struct Outcome {
  std::vector<float> values;
  std::string explained;
  size_t bytes = 0;
};

class BandsTest : public ::testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    setenv(kStorage, GetParam(), 1);
  }
  void TearDown() override {
    unsetenv(kStorage);
    unsetenv(kBands);
  }

  static MadeEngine MakeEngine(DataFormat format,
                               const std::string &data_type,
                               const char *bands,
                               bool check = false) {
    setenv(kBands, bands, 1);
    MakeOptions options = test_opencl::On({RT_OPENCL, RT_CPU});
    EXPECT_SUCCESS(options.config.SetOutOfRangeCheck(check));
    return core_test::Make(Network(format, data_type), options);
  }

  static MaceTensor Image(DataFormat format, std::vector<float> values) {
    const bool nchw = format == DataFormat::NCHW;
    return core_test::Floats(nchw ? Dims{1, 3, 43, 22} : Dims{1, 43, 22, 3},
                             values, format);
  }
  static std::vector<float> Pixels() {
    Random random(5, Random::Quiet());
    return random.Floats({1, 43, 22, 3}).floats();
  }

  static Outcome Run(DataFormat format,
                     const std::string &data_type,
                     const char *bands) {
    Outcome outcome;
    const MadeEngine made = MakeEngine(format, data_type, bands);
    EXPECT_SUCCESS(made.status);
    if (made.engine == nullptr) return outcome;
    for (int run = 0; run < 2; ++run) {
      core_test::Tensors outputs = {{"y", core_test::Room(kOutputs)}};
      EXPECT_SUCCESS(
          made.engine->Run({{"x", Image(format, Pixels())}}, &outputs));
      outcome.values = core_test::Values(outputs["y"]);
    }
    outcome.explained = made.engine->Explain();
    outcome.bytes = made.engine->GetStats().arena_bytes;
    return outcome;
  }
};

TEST_P(BandsTest, ComputeTheSame) {
  for (const DataFormat format : {DataFormat::NHWC, DataFormat::NCHW}) {
    for (const char *data_type : {"fp32_fp32", "fp16_fp32"}) {
      SCOPED_TRACE(data_type);
      const Outcome whole = Run(format, data_type, "0");
      const Outcome bands = Run(format, data_type, "1");
      EXPECT_EQ(whole.explained.find("bands of rows"), std::string::npos);
      EXPECT_NE(bands.explained.find("bands of rows"), std::string::npos)
          << bands.explained;
      EXPECT_EQ(bands.values, whole.values);
      EXPECT_LT(bands.bytes, whole.bytes);
    }
  }
}

TEST_P(BandsTest, ErrorsTellTheRowOfTheWholeTensor) {
  const MadeEngine made = MakeEngine(DataFormat::NHWC, "fp16_fp32", "1", true);
  ASSERT_OK(made.status);
  std::vector<float> pixels = Pixels();
  // Too large for half where the filter is not 0, in row 40 first.
  pixels[(41 * 22 + 7) * 3] = 1e9f;
  core_test::Tensors outputs = {{"y", core_test::Room(kOutputs)}};
  const MaceStatus status =
      made.engine->Run({{"x", Image(DataFormat::NHWC, pixels)}}, &outputs);
  EXPECT_CODE(status, MACE_RUNTIME_ERROR);
  EXPECT_MENTIONS(status, "operator 'conv1'");
  EXPECT_MENTIONS(status, " at [0, 40, ");
}

// The self-test compares a chain as a whole.
TEST_P(BandsTest, PassTheSelfTest) {
  setenv("MACE_OPENCL_SELF_TEST", "1", 1);
  const Outcome whole = Run(DataFormat::NHWC, "fp16_fp32", "0");
  const Outcome bands = Run(DataFormat::NHWC, "fp16_fp32", "1");
  unsetenv("MACE_OPENCL_SELF_TEST");
  EXPECT_NE(bands.explained.find("bands of rows"), std::string::npos);
  EXPECT_EQ(bands.explained.find("self-test"), std::string::npos)
      << bands.explained;
  EXPECT_EQ(bands.values, whole.values);
}

INSTANTIATE_TEST_SUITE_P(Storage,
                         BandsTest,
                         ::testing::Values("buffer", "image"));

const ::testing::Environment *const on_test_driver =
    ::testing::AddGlobalTestEnvironment(new test_opencl::OnTestDriver);

}  // namespace
}  // namespace mace
