// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_ENGINE_TESTING_H_
#define TEST_OPENCL_ENGINE_TESTING_H_

// A small network, and engines that run it on the test driver. The host runs
// what the GPU does not, so that every result is held to the host's.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/ops/testing/op_case.h"
#include "mace/public/mace.h"
#include "test/opencl/load_test_driver.h"

namespace mace {
namespace test_opencl {

using core_test::Dims;
using core_test::Floats;
using core_test::MadeEngine;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::Tensors;
using core_test::Values;
using op_test::OpCase;
using op_test::Random;

inline constexpr int64_t kClasses = 10;
// Of the network, as the mean, the classes and their probabilities are one.
inline constexpr unsigned kLaunches = 6;

#define EXPECT_SUCCESS(status) EXPECT_CODE(status, MACE_SUCCESS)

inline void AddPacked(const std::string &name,
                      const Shape &shape,
                      Random *random,
                      ModelBuilder *model) {
  OpCase op_case("Conv2D");
  op_case.Packed(random->Floats(shape, -0.3f, 0.3f));
  const std::vector<uint8_t> &bytes = op_case.inputs[0].value.bytes;
  const uint64_t offset = model->AppendWeights(bytes.data(), bytes.size());
  model->RawConstant(name, Dims(shape.begin(), shape.end()), DataType::kFloat32,
                     op_case.inputs[0].layout, 1, offset, bytes.size());
}

inline std::vector<float> Some(int64_t count, Random *random) {
  return random->Floats({count}).floats();
}

// The largest difference, relative to the largest number that is wanted.
inline double WorstError(const std::vector<float> &found,
                         const std::vector<float> &wanted) {
  if (found.size() != wanted.size()) return HUGE_VAL;
  double largest = 0;
  double worst = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::fmax(largest, std::fabs(static_cast<double>(wanted[i])));
    const double error = std::fabs(static_cast<double>(found[i]) - wanted[i]);
    worst = std::isnan(error) ? HUGE_VAL : std::fmax(worst, error);
  }
  return worst / largest;
}

// A network with a branch, a residual, and an image wider than some GPUs take.
// `input` "a": without its first operator, whose output is the input then.
inline ModelBuilder Network(const std::string &input = "x") {
  Random random(1, Random::Quiet());
  ModelBuilder model;
  model.Input(input, {1, 12, 70, input == "x" ? 3 : 16});
  AddPacked("f1", {16, 3, 3, 3}, &random, &model);
  AddPacked("f2", {16, 1, 1, 16}, &random, &model);
  AddPacked("f3", {kClasses, 32}, &random, &model);
  model.Constant("b1", {16}, Some(16, &random))
      .Constant("b3", {kClasses}, Some(kClasses, &random));
  if (input == "x") {
    model.Operator("conv1", "Conv2D", {"x", "f1", "b1"}, {"a"},
                   {core_test::StringAttribute("padding", "SAME"),
                    core_test::StringAttribute("activation", "RELU")});
  }
  model
      .Operator("conv2", "Conv2D", {"a", "f2", "", "a"}, {"b"})
      // With a launch, as one tensor cannot be two parts.
      .Operator("join", "Concat", {"b", "b"}, {"c"},
                {core_test::IntAttribute("axis", 3)})
      .Operator("pool", "Pooling", {"c"}, {"d"},
                {core_test::IntsAttribute("kernels", {2, 2}),
                 core_test::IntsAttribute("strides", {2, 2})})
      .Operator("tanh", "Activation", {"d"}, {"e"},
                {core_test::StringAttribute("activation", "TANH")})
      .Operator("mean", "Reduce", {"e"}, {"g"},
                {core_test::StringAttribute("mode", "MEAN"),
                 core_test::IntsAttribute("axes", {1, 2}),
                 core_test::IntAttribute("keep_dims", 0)})
      .Operator("classes", "FullyConnected", {"g", "f3", "b3"}, {"h"})
      .Operator("probabilities", "Softmax", {"h"}, {"y"})
      .Output("y");
  return model;
}

inline MakeOptions On(const std::vector<RuntimeType> &runtimes) {
  MakeOptions options;
  EXPECT_EQ(options.config.SetRuntimeTypes(runtimes), MaceStatus::MACE_SUCCESS);
  return options;
}

// A folder for programs, which are compiled for the first engine that stores
// them there: compiling is most of what an engine takes.
inline std::string ProgramFolder() {
  const std::string folder =
      std::string(std::getenv("TEST_TMPDIR")) + "/programs";
  mkdir(folder.c_str(), 0700);
  return folder;
}

inline MakeOptions OnStoredPrograms(const std::vector<RuntimeType> &runtimes) {
  MakeOptions options = On(runtimes);
  EXPECT_SUCCESS(options.config.SetGPUContext(
      GPUContextBuilder().SetStoragePath(ProgramFolder()).Finalize()));
  return options;
}

// The memory of the constants of a model whose first operator is on the GPU; 0
// if there is no such engine.
inline size_t PreparedBytes(const ModelBuilder &model) {
  const MadeEngine made = core_test::Make(model, On({RT_OPENCL, RT_CPU}));
  EXPECT_SUCCESS(made.status);
  if (made.engine == nullptr) return 0;
  EXPECT_EQ(made.engine->GetPlacement().operators.at(0).device,
            DeviceType::GPU);
  return made.engine->GetStats().prepared_bytes;
}

inline std::vector<float> Image(int round) {
  Random random(static_cast<uint32_t>(100 + round), Random::Quiet());
  return random.Floats({1, 12, 70, 3}).floats();
}

inline MaceStatus RunOnce(const MadeEngine &made,
                          int round,
                          std::vector<float> *result) {
  Tensors outputs = {{"y", core_test::Room(kClasses)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({1, 12, 70, 3}, Image(round))}}, &outputs);
  if (status == MaceStatus::MACE_SUCCESS) *result = Values(outputs["y"]);
  return status;
}

inline constexpr int kRounds = 2;

class EngineOnTestDriver : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    driver_ = LoadTestDriver(&why);
    ASSERT_NE(driver_, nullptr) << why;
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    const MadeEngine made = core_test::Make(Network(), On({RT_CPU}));
    ASSERT_OK(made.status);
    for (int round = 0; round < kRounds; ++round) {
      wanted_.emplace_back();
      ASSERT_OK(RunOnce(made, round, &wanted_.back()));
    }
  }

  static void ExpectRight(const std::vector<float> &result, int round) {
    const std::vector<float> &wanted = wanted_[static_cast<size_t>(round)];
    ASSERT_EQ(result.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(result[i], wanted[i], 1e-5);
    }
  }

  // Creates an engine and runs it, and returns how many operators ran on the
  // GPU in the end. `explained`: receives what the engine says of itself.
  static size_t MakeAndRun(const MakeOptions &options,
                           int rounds = kRounds,
                           std::string *explained = nullptr) {
    const MadeEngine made = core_test::Make(Network(), options);
    EXPECT_SUCCESS(made.status);
    if (made.engine == nullptr) return 0;
    for (int i = 0; i < rounds; ++i) {
      const int round = i % kRounds;
      std::vector<float> result;
      EXPECT_SUCCESS(RunOnce(made, round, &result));
      ExpectRight(result, round);
    }
    if (explained != nullptr) *explained = made.engine->Explain();
    size_t on_gpu = 0;
    const EnginePlacement placement = made.engine->GetPlacement();
    for (const OperatorPlacement &op : placement.operators) {
      on_gpu += op.device == DeviceType::GPU;
    }
    return on_gpu;
  }

  // Of the log, the calls before the first kernel is created that can be made
  // to fail: releases can't.
  static uint64_t CallsBeforeKernels() {
    MaceTestOpenclCall entry;
    uint64_t calls = 0;
    for (size_t i = 0; driver_->log_entry(i, &entry) != 0; ++i) {
      const std::string function = entry.function;
      if (function == "clCreateKernel") break;
      calls += function.find("clRelease") != 0;
    }
    return calls;
  }

  static void ExpectClean() {
    driver_->check_leaks();
    EXPECT_EQ(Problems(*driver_), "");
  }

  static inline const MaceTestOpenclControl *driver_ = nullptr;
  static inline std::vector<std::vector<float>> wanted_;
};

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_ENGINE_TESTING_H_
