// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers that half can't hold, in models whose activations are half.

#include <gtest/gtest.h>

#include <cmath>
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
using core_test::StringAttribute;

constexpr int64_t kChannels = 8;
const core_test::Dims kShape = {1, 6, 5, kChannels};
constexpr size_t kElements = size_t{6} * 5 * kChannels;

MadeEngine MakeOn(const ModelBuilder &model,
                  const std::vector<RuntimeType> &runtimes) {
  MakeOptions options;
  EXPECT_CODE(options.config.SetRuntimeTypes(runtimes), MACE_SUCCESS);
  return core_test::Make(model, options);
}

void Math(ModelBuilder *model,
          const std::string &mode,
          const std::vector<std::string> &from,
          const std::string &to) {
  model->Operator("op of " + to, "Eltwise", from, {to},
                  {StringAttribute("mode", mode)});
}

void Number(ModelBuilder *model, const std::string &name, float value) {
  model->Constant(name, {1}, std::vector<float>{value});
}

void Tanh(ModelBuilder *model, const std::string &from, const std::string &to) {
  model->Operator("op of " + to, "Activation", {from}, {to},
                  {StringAttribute("activation", "TANH")});
}

class HalfRangeTest : public ::testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    setenv("MACE_OPENCL_STORAGE", GetParam(), 1);
  }
};

MaceStatus RunWith(const MadeEngine &made,
                   const std::vector<float> &x,
                   std::vector<float> *y) {
  core_test::Tensors outputs = {{"y", core_test::Room(kElements)}};
  const MaceStatus status =
      made.engine->Run({{"x", core_test::Floats(kShape, x)}}, &outputs);
  if (status == MaceStatus::MACE_SUCCESS) *y = core_test::Values(outputs["y"]);
  return status;
}

// As filters of speech do: log(sum of squares + 1e-10), of silence and of what
// is loud, divided by ten and shifted by one.
TEST_P(HalfRangeTest, LevelsOfQuietAndOfLoudFrames) {
  ModelBuilder model;
  model.Input("x", kShape);
  Number(&model, "least", 1e-10f);
  Number(&model, "scale", 0.1f);
  Number(&model, "one", 1);
  Math(&model, "MUL", {"x", "one"}, "a");
  Math(&model, "SQUARE", {"a"}, "squares");
  model.Operator(
      "sum", "Reduce", {"squares"}, {"sums"},
      {StringAttribute("mode", "SUM"), core_test::IntsAttribute("axes", {3})});
  Math(&model, "ADD", {"sums", "least"}, "energies");
  Math(&model, "LOG", {"energies"}, "levels");
  Math(&model, "MUL", {"levels", "scale"}, "scaled");
  Math(&model, "ADD", {"a", "scaled"}, "mixed");
  Math(&model, "SUB", {"mixed", "a"}, "y");
  model.Output("y").DataTypes("fp16_fp32");
  const MadeEngine made = MakeOn(model, {RT_OPENCL});
  ASSERT_OK(made.status);
  std::vector<float> x(kElements);
  for (size_t i = 0; i < kElements; ++i) {
    const size_t frame = i / kChannels;
    // 0, 1e-6, ... 1e2, whose squares half holds in part.
    x[i] = frame % 10 == 0
               ? 0.0f
               : static_cast<float>(std::pow(10.0, frame % 10 - 7.0));
  }
  std::vector<float> y;
  ASSERT_OK(RunWith(made, x, &y));
  for (size_t i = 0; i < kElements; ++i) {
    const size_t first = i / kChannels * kChannels;
    double energy = 1e-10;
    for (size_t c = 0; c < kChannels; ++c) {
      energy += static_cast<double>(x[first + c]) * x[first + c];
    }
    // `a` has 2^-11 of its size and 2^-25 in half, and the sum with it 2^-11.
    const double error = 0.01 + std::fabs(x[i]) * 2e-3;
    EXPECT_NEAR(y[i], 0.1 * std::log(energy), error) << i << " of " << x[i];
  }
  EXPECT_EQ(made.engine->GetPlacement().operators[0].device, DeviceType::GPU);
}

// As TensorFlow's l2_normalize does: the inverse of 1e-6 is infinite in half,
// and 0 times that is NaN.
TEST_P(HalfRangeTest, VectorsOfZerosAreNormalised) {
  ModelBuilder model;
  model.Input("x", kShape);
  Number(&model, "least", 1e-12f);
  Number(&model, "one", 1);
  Math(&model, "MUL", {"x", "one"}, "a");
  model.Operator("sum", "Reduce", {"a"}, {"sums"},
                 {StringAttribute("mode", "SUM_SQUARE"),
                  core_test::IntsAttribute("axes", {3})});
  Math(&model, "MAX", {"sums", "least"}, "energies");
  Math(&model, "RSQRT", {"energies"}, "inverses");
  Math(&model, "MUL", {"a", "inverses"}, "y");
  model.Output("y").DataTypes("fp16_fp32");
  const MadeEngine made = MakeOn(model, {RT_OPENCL});
  ASSERT_OK(made.status);
  std::vector<float> x(kElements);
  // Vectors of 0, 1e-3, and 300, whose squares are beyond half.
  const float sizes[] = {0, 1e-3f, 300};
  for (size_t i = 0; i < kElements; ++i) x[i] = sizes[i / kChannels % 3];
  std::vector<float> y;
  ASSERT_OK(RunWith(made, x, &y));
  for (size_t i = 0; i < kElements; ++i) {
    EXPECT_NEAR(y[i], x[i] == 0 ? 0 : std::sqrt(1.0 / kChannels), 1e-3) << i;
  }
}

// Scores of keys that are left out are -1e9: where all are, the rest decides.
TEST_P(HalfRangeTest, ARowThatIsMaskedAsAWholeIsUniform) {
  ModelBuilder model;
  model.Input("x", kShape);
  Number(&model, "out", -1e9f);
  Number(&model, "one", 1);
  Math(&model, "MUL", {"x", "one"}, "a");
  Math(&model, "MUL", {"a", "out"}, "mask");
  Math(&model, "ADD", {"a", "mask"}, "scores");
  model.Operator("softmax", "Softmax", {"scores"}, {"y"});
  model.Output("y").DataTypes("fp16_fp32");
  const MadeEngine made = MakeOn(model, {RT_OPENCL});
  ASSERT_OK(made.status);
  std::vector<float> x(kElements, 1);
  x[kChannels] = 0;  // in the second row, the first key takes part
  std::vector<float> y;
  ASSERT_OK(RunWith(made, x, &y));
  for (size_t i = 0; i < kElements; ++i) {
    const double expected =
        i / kChannels == 1 ? (i == kChannels ? 1 : 0) : 1.0 / kChannels;
    EXPECT_NEAR(y[i], expected, 1e-3) << i;
  }
}

// y = tanh(1000 x - 999 x): both products may be infinite in half.
ModelBuilder Difference(const std::string &data_types) {
  ModelBuilder model;
  model.Input("x", kShape);
  Number(&model, "p", 1000);
  Number(&model, "q", 999);
  Math(&model, "MUL", {"x", "p"}, "a");
  Math(&model, "MUL", {"x", "q"}, "b");
  Math(&model, "SUB", {"a", "b"}, "c");
  Tanh(&model, "c", "y");
  model.Output("y").DataTypes(data_types);
  return model;
}

DeviceType DeviceOf(const MadeEngine &made) {
  return made.engine->GetPlacement().operators[0].device;
}

// As wherever a GPU fails in a run, even if the CPU is not named.
TEST_P(HalfRangeTest, TheCpuTakesOverWhereAFirstRunMakesNan) {
  const std::vector<RuntimeType> choices[] = {{RT_OPENCL, RT_CPU}, {RT_OPENCL}};
  for (const std::vector<RuntimeType> &runtimes : choices) {
    const MadeEngine made = MakeOn(Difference("fp16_fp32"), runtimes);
    ASSERT_OK(made.status);
    EXPECT_EQ(DeviceOf(made), DeviceType::GPU);
    std::vector<float> x(kElements, 1);
    x[7] = 100;
    std::vector<float> y;
    ASSERT_OK(RunWith(made, x, &y));
    for (size_t i = 0; i < kElements; ++i) {
      EXPECT_NEAR(y[i], std::tanh(x[i]), 1e-3) << i;
    }
    EXPECT_EQ(DeviceOf(made), DeviceType::CPU);
    const EnginePlacement placement = made.engine->GetPlacement();
    ASSERT_EQ(placement.left_out.size(), 1u);
    const std::string &reason = placement.left_out[0].reason;
    EXPECT_NE(reason.find("'y' [1, 6, 5, 8] (NHWC if an image) has 1 NaN "
                          "although all inputs"),
              std::string::npos)
        << reason;
    EXPECT_NE(reason.find("data_type: fp32_fp32"), std::string::npos) << reason;
  }
}

TEST_P(HalfRangeTest, OnlyRunsUntilOneWithoutNanAreSearched) {
  const MadeEngine made = MakeOn(Difference("fp16_fp32"), {RT_OPENCL, RT_CPU});
  ASSERT_OK(made.status);
  std::vector<float> y;
  ASSERT_OK(RunWith(made, std::vector<float>(kElements, 1), &y));
  ASSERT_OK(RunWith(made, std::vector<float>(kElements, 100), &y));
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(DeviceOf(made), DeviceType::GPU);
}

TEST_P(HalfRangeTest, NanOfAnInputIsTheModelsOwn) {
  const MadeEngine made = MakeOn(Difference("fp16_fp32"), {RT_OPENCL});
  ASSERT_OK(made.status);
  std::vector<float> x(kElements, 1);
  x[7] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> y;
  ASSERT_OK(RunWith(made, x, &y));
  EXPECT_EQ(DeviceOf(made), DeviceType::GPU);
  EXPECT_TRUE(std::isnan(y[7]));
  EXPECT_FALSE(std::isnan(y[8]));
}

TEST_P(HalfRangeTest, NanOfAModelInFloatIsItsOwn) {
  ModelBuilder model;
  model.Input("x", kShape);
  Math(&model, "LOG", {"x"}, "y");
  model.Output("y").DataTypes("fp32_fp32");
  const MadeEngine made = MakeOn(model, {RT_OPENCL});
  ASSERT_OK(made.status);
  std::vector<float> y;
  ASSERT_OK(RunWith(made, std::vector<float>(kElements, -1), &y));
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(DeviceOf(made), DeviceType::GPU);
}

INSTANTIATE_TEST_SUITE_P(Storage,
                         HalfRangeTest,
                         ::testing::Values("buffer", "image"));

const ::testing::Environment *const on_test_driver =
    ::testing::AddGlobalTestEnvironment(new test_opencl::OnTestDriver);

}  // namespace
}  // namespace mace
