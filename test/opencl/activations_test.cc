// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions that differ in their activations, and therefore have a program
// in common, which gets the activation as an argument.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "test/opencl/engine_testing.h"
#include "test/opencl/on_test_driver.h"

namespace mace {
namespace {

using core_test::FloatAttribute;
using core_test::MadeEngine;
using core_test::ModelBuilder;
using core_test::StringAttribute;
using op_test::Random;
using test_opencl::AddPacked;

constexpr int64_t kChannels = 16;
constexpr int64_t kOutputs = 5 * 7 * kChannels;

struct Kind {
  const char *name;
  float limit;
  float alpha;
  float beta;
};

const Kind kKinds[] = {
    {"NONE", 0, 0, 0},       {"RELU", 0, 0, 0},
    {"RELUX", 0.7f, 0, 0},   {"LEAKY_RELU", 0, 0.3f, 0},
    {"SIGMOID", 0, 0, 0},    {"HARD_SIGMOID", 0, 0.3f, 0.4f},
    {"HARD_SWISH", 0, 0, 0}, {"SWISH", 0, 0, 0},
    {"GELU", 0, 0, 0},
};

std::string NameOf(const Kind &kind) { return std::string("y_") + kind.name; }

// Each of the same tensor.
ModelBuilder Network(const std::string &data_type) {
  Random random(4, Random::Quiet());
  ModelBuilder model;
  model.Input("x", {1, 5, 7, kChannels});
  model.Operator("first", "Activation", {"x"}, {"a"},
                 {StringAttribute("activation", "TANH")});
  AddPacked("w", {kChannels, 1, 1, kChannels}, &random, &model);
  for (const Kind &kind : kKinds) {
    const std::string to = std::string("c_") + kind.name;
    model.Operator("conv " + to, "Conv2D", {"a", "w"}, {to},
                   {StringAttribute("activation", kind.name),
                    FloatAttribute("activation_limit", kind.limit),
                    FloatAttribute("activation_alpha", kind.alpha),
                    FloatAttribute("activation_beta", kind.beta)});
    model.Operator("op of " + NameOf(kind), "Eltwise", {to}, {NameOf(kind)},
                   {StringAttribute("mode", "SQUARE")});
    model.Output(NameOf(kind));
  }
  model.DataTypes(data_type);
  return model;
}

core_test::Tensors OutputsOf(const std::string &data_type,
                             RuntimeType runtime) {
  const MadeEngine made =
      core_test::Make(Network(data_type), test_opencl::On({runtime}));
  EXPECT_SUCCESS(made.status);
  if (made.engine == nullptr) return {};
  Random random(5, Random::Quiet());
  const std::vector<float> image =
      random.Floats({1, 5, 7, kChannels}, -3, 3).floats();
  core_test::Tensors outputs;
  for (const Kind &kind : kKinds) {
    outputs[NameOf(kind)] = core_test::Room(kOutputs);
  }
  EXPECT_SUCCESS(made.engine->Run(
      {{"x", core_test::Floats({1, 5, 7, kChannels}, image)}}, &outputs));
  return outputs;
}

class ActivationsTest : public ::testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    setenv("MACE_OPENCL_STORAGE", GetParam(), 1);
  }
  void TearDown() override { unsetenv("MACE_OPENCL_STORAGE"); }
};

INSTANTIATE_TEST_SUITE_P(Storage,
                         ActivationsTest,
                         ::testing::Values("buffer", "image"));

TEST_P(ActivationsTest, AreAsOnTheCpu) {
  for (const auto &[data_type, tolerance] :
       {std::pair{"fp32_fp32", 1e-5}, {"fp16_fp32", 4e-3}}) {
    SCOPED_TRACE(data_type);
    core_test::Tensors wanted = OutputsOf(data_type, RT_CPU);
    core_test::Tensors found = OutputsOf(data_type, RT_OPENCL);
    for (const Kind &kind : kKinds) {
      SCOPED_TRACE(kind.name);
      EXPECT_LE(
          test_opencl::WorstError(core_test::Values(found[NameOf(kind)]),
                                  core_test::Values(wanted[NameOf(kind)])),
          tolerance);
    }
  }
}

const ::testing::Environment *const on_test_driver =
    ::testing::AddGlobalTestEnvironment(new test_opencl::OnTestDriver);

}  // namespace
}  // namespace mace
