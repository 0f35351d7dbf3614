// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Engines on the GPU, on the test driver: failures of every call, and the
// limits of other GPUs. The host runs what the GPU does not, so that every
// result is held to the host's.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/ops/testing/op_case.h"
#include "mace/public/mace.h"
#include "test/opencl/load_test_driver.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::Floats;
using core_test::MadeEngine;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::Tensors;
using core_test::Values;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

constexpr int64_t kClasses = 10;

#define EXPECT_SUCCESS(status) EXPECT_CODE(status, MACE_SUCCESS)

void AddPacked(const std::string &name,
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

std::vector<float> Some(int64_t count, Random *random) {
  return random->Floats({count}).floats();
}

// A network with a branch, a residual, and an image wider than some GPUs take.
ModelBuilder Network() {
  Random random(1, Random::Quiet());
  ModelBuilder model;
  model.Input("x", {1, 12, 70, 3});
  AddPacked("f1", {16, 3, 3, 3}, &random, &model);
  AddPacked("f2", {16, 1, 1, 16}, &random, &model);
  AddPacked("f3", {kClasses, 32}, &random, &model);
  model.Constant("b1", {16}, Some(16, &random))
      .Constant("b3", {kClasses}, Some(kClasses, &random))
      .Operator("conv1", "Conv2D", {"x", "f1", "b1"}, {"a"},
                {core_test::StringAttribute("padding", "SAME"),
                 core_test::StringAttribute("activation", "RELU")})
      .Operator("conv2", "Conv2D", {"a", "f2", "", "a"}, {"b"})
      .Operator("join", "Concat", {"a", "b"}, {"c"},
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

MakeOptions On(const std::vector<RuntimeType> &runtimes) {
  MakeOptions options;
  EXPECT_EQ(options.config.SetRuntimeTypes(runtimes), MaceStatus::MACE_SUCCESS);
  return options;
}

std::vector<float> Image(int round) {
  Random random(static_cast<uint32_t>(100 + round), Random::Quiet());
  return random.Floats({1, 12, 70, 3}).floats();
}

MaceStatus RunOnce(const MadeEngine &made,
                   int round,
                   std::vector<float> *result) {
  Tensors outputs = {{"y", core_test::Room(kClasses)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({1, 12, 70, 3}, Image(round))}}, &outputs);
  if (status == MaceStatus::MACE_SUCCESS) *result = Values(outputs["y"]);
  return status;
}

constexpr int kRounds = 2;

class EngineOnTestDriver : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    driver_ = test_opencl::LoadTestDriver(&why);
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
  // GPU in the end.
  static size_t MakeAndRun(MakeOptions options) {
    const MadeEngine made = core_test::Make(Network(), options);
    EXPECT_SUCCESS(made.status);
    if (made.engine == nullptr) return 0;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<float> result;
      EXPECT_SUCCESS(RunOnce(made, round, &result));
      ExpectRight(result, round);
    }
    size_t on_gpu = 0;
    const EnginePlacement placement = made.engine->GetPlacement();
    for (const OperatorPlacement &op : placement.operators) {
      on_gpu += op.device == DeviceType::GPU;
    }
    return on_gpu;
  }

  static void ExpectClean() {
    driver_->check_leaks();
    EXPECT_EQ(test_opencl::Problems(*driver_), "");
  }

  static const MaceTestOpenclControl *driver_;
  static std::vector<std::vector<float>> wanted_;
};

const MaceTestOpenclControl *EngineOnTestDriver::driver_ = nullptr;
std::vector<std::vector<float>> EngineOnTestDriver::wanted_;

TEST_F(EngineOnTestDriver, RunsTheWholeNetwork) {
  driver_->reset();
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU})), 8u);
  ExpectClean();
}

// Whichever call fails, the results are right: the CPU runs the operators.
TEST_F(EngineOnTestDriver, SurvivesTheFailureOfEveryCall) {
  for (const char *family : {"target", "adreno_630"}) {
    uint64_t failed = 0;
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(testing::Message() << family << ", call " << call);
      driver_->reset();
      driver_->set_family(family);
      driver_->fail_call(call, 0);
      MakeAndRun(On({RT_OPENCL, RT_CPU}));
      const bool done = driver_->failures() == 0;
      ExpectClean();
      if (done || HasFailure()) break;
      ++failed;
    }
    EXPECT_GT(failed, 50u);
  }
}

TEST_F(EngineOnTestDriver, SurvivesTheLossOfItsContext) {
  driver_->reset();
  ASSERT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU})), 8u);
  const uint64_t calls = driver_->calls(nullptr);
  for (uint64_t call = 1; call < calls; call += 7) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    driver_->reset();
    driver_->lose_device(call);
    MakeAndRun(On({RT_OPENCL, RT_CPU}));
    ExpectClean();
    if (HasFailure()) break;
  }
}

// Without the CPU, a failure is a status that names the call.
TEST_F(EngineOnTestDriver, NamesTheCallThatFailed) {
  const struct {
    const char *function;
    uint64_t n;
  } failures[] = {{"clCreateContext", 1},
                  {"clCreateCommandQueue", 1},
                  {"clGetPlatformIDs", 2}};
  for (const auto &failure : failures) {
    driver_->reset();
    driver_->fail_function(failure.function, failure.n, 0);
    const MadeEngine made = core_test::Make(Network(), On({RT_OPENCL}));
    EXPECT_NE(made.status.code(), MaceStatus::MACE_SUCCESS);
    EXPECT_MENTIONS(made.status, failure.function);
  }
}

TEST_F(EngineOnTestDriver, KeepsTheQueueShort) {
  driver_->reset();
  setenv("MACE_OPENCL_QUEUE_WINDOW_SIZE", "3", 1);
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU})), 8u);
  unsetenv("MACE_OPENCL_QUEUE_WINDOW_SIZE");
  // 8 launches a run: it waits after the third and the sixth.
  EXPECT_EQ(driver_->calls("clEnqueueNDRangeKernel"), 8u * kRounds);
  EXPECT_EQ(driver_->calls("clWaitForEvents"), 2u * kRounds);
  ExpectClean();
}

// Programs are compiled once for each device and driver.
TEST_F(EngineOnTestDriver, StoresItsPrograms) {
  const char *folder = std::getenv("TEST_TMPDIR");
  ASSERT_NE(folder, nullptr);
  const auto run = [&](const char *family) {
    driver_->reset();
    driver_->set_family(family);
    MakeOptions options = On({RT_OPENCL, RT_CPU});
    EXPECT_SUCCESS(options.config.SetGPUContext(
        GPUContextBuilder().SetStoragePath(folder).Finalize()));
    EXPECT_EQ(MakeAndRun(options), 8u);
    return driver_->calls("clCreateProgramWithSource");
  };
  EXPECT_GT(run("target"), 0u);
  EXPECT_EQ(run("target"), 0u);
  EXPECT_GT(run("adreno_630"), 0u);
  EXPECT_EQ(run("adreno_630"), 0u);
  // What is stored is not trusted: the driver refuses it, or the file is not
  // whole.
  driver_->reset();
  driver_->set_family("adreno_630");
  driver_->fail_function("clCreateProgramWithBinary", 1, 0);
  MakeOptions options = On({RT_OPENCL, RT_CPU});
  EXPECT_SUCCESS(options.config.SetGPUContext(
      GPUContextBuilder().SetStoragePath(folder).Finalize()));
  EXPECT_EQ(MakeAndRun(options), 8u);
  EXPECT_EQ(driver_->calls("clCreateProgramWithSource"), 1u);
  EXPECT_EQ(run("adreno_630"), 0u);
  const std::string file =
      std::string(folder) + "/mace_cl_compiled_program.bin";
  std::ofstream(file, std::ios::binary | std::ios::in | std::ios::out)
      .seekp(200)
      .write("damaged", 7);
  EXPECT_GT(run("adreno_630"), 0u);
  EXPECT_EQ(run("adreno_630"), 0u);
  ExpectClean();
}

// Every GPU of the driver's table either runs the network, within its limits,
// or is left out with a reason.
TEST_F(EngineOnTestDriver, KeepsTheLimitsOfEveryFamily) {
  for (size_t i = 0; driver_->family_name(i) != nullptr; ++i) {
    const std::string family = driver_->family_name(i);
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family.c_str()), 0);
    const size_t on_gpu = MakeAndRun(On({RT_OPENCL, RT_CPU}));
    if (family == "opencl_1_1" || family == "kernel_work_group_16") {
      // The second is known only when kernels are compiled.
      EXPECT_EQ(on_gpu, 0u);
    } else if (family == "work_items_flat") {
      EXPECT_GT(on_gpu, 3u);
    } else {
      EXPECT_EQ(on_gpu, 8u);
    }
    ExpectClean();
  }
}

}  // namespace
}  // namespace mace
