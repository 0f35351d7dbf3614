// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Engines that tune their kernels, on the test driver: it says how long each
// kernel takes, so that it is known which values are the best.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/opencl/engine_testing.h"

namespace mace {
namespace test_opencl {
namespace {

const Dims kInput = {1, 16, 20, 4};
constexpr char kBestTile[] = "PIXELS=4 -D BLOCKS=1 ";
constexpr int64_t kOutputs = 16 * 20 * 8;

// Two equal convolutions after another one. Groups keep them off kernels for
// certain GPUs.
ModelBuilder TwoConvolutions() {
  Random random(1, Random::Quiet());
  ModelBuilder model;
  model.Input("x", kInput);
  AddPacked("f1", {8, 3, 3, 4}, &random, &model);
  AddPacked("f2", {8, 1, 1, 8}, &random, &model);
  const auto same = core_test::StringAttribute("padding", "SAME");
  model.Operator("conv1", "Conv2D", {"x", "f1"}, {"a"}, {same})
      .Operator("conv2", "Conv2D", {"a", "f2"}, {"b"}, {same})
      .Operator("conv3", "Conv2D", {"b", "f2"}, {"y"}, {same})
      .Output("y");
  return model;
}

// Tiles of 4 pixels and one block, and 32 items of a group, are the best.
uint64_t KernelNanos(const char *,
                     const char *options,
                     const size_t *,
                     const size_t *local) {
  uint64_t nanos = 100000;
  if (std::strstr(options, kBestTile) != nullptr) nanos -= 40000;
  if (local[0] * local[1] * local[2] == 32) nanos -= 20000;
  return nanos;
}

class TuningTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    driver_ = LoadTestDriver(&why);
    ASSERT_NE(driver_, nullptr) << why;
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    // In buffers, convolutions have work groups of their own.
    setenv("MACE_OPENCL_STORAGE", "image", 1);
  }

  void SetUp() override {
    ASSERT_NE(driver_, nullptr);
    const std::string name =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
    mkdir(folder_.c_str(), S_IRWXU);
  }
  void TearDown() override {
    for (const char *variable :
         {"MACE_TUNING", "MACE_TUNING_SECONDS", "MACE_RUN_PARAMETER_PATH"}) {
      unsetenv(variable);
    }
  }

  std::shared_ptr<GPUContext> WithFolder() const {
    return GPUContextBuilder().SetStoragePath(folder_).Finalize();
  }
  std::string File() const { return folder_ + "/mace_cl_tuned_parameter.bin"; }

  // Makes an engine and runs it once, and notes what it asked of the driver.
  void Run(const std::shared_ptr<GPUContext> &context,
           const char *family = "target") {
    driver_->reset();
    driver_->set_family(family);
    driver_->set_kernel_nanos(KernelNanos);
    Make(context);
    driver_->check_leaks();
    EXPECT_EQ(Problems(*driver_), "");
  }

  void Make(const std::shared_ptr<GPUContext> &context) {
    launches_.clear();
    builds_.clear();
    result_.clear();
    MakeOptions options;
    EXPECT_SUCCESS(options.config.SetRuntimeTypes({RT_OPENCL, RT_CPU}));
    EXPECT_SUCCESS(options.config.SetGPUContext(context));
    const MadeEngine made = core_test::Make(TwoConvolutions(), options);
    ASSERT_OK(made.status);
    const uint64_t before = driver_->calls(nullptr);
    Tensors outputs = {{"y", core_test::Room(kOutputs)}};
    Random random(2, Random::Quiet());
    const auto input = random.Floats({1, 16, 20, 4}).floats();
    ASSERT_OK(made.engine->Run({{"x", Floats(kInput, input)}}, &outputs));
    result_ = Values(outputs["y"]);
    on_gpu_ = 0;
    for (const OperatorPlacement &op : made.engine->GetPlacement().operators) {
      on_gpu_ += op.device == DeviceType::GPU;
    }
    MaceTestOpenclCall call{};
    for (size_t i = 0; driver_->log_entry(i, &call) != 0; ++i) {
      const std::string function = call.function;
      if (function == "clBuildProgram") builds_.insert(call.detail);
      if (function == "clEnqueueNDRangeKernel" && call.number > before) {
        launches_.emplace_back(call.detail);
      }
    }
  }

  void Tune() {
    setenv("MACE_TUNING", "1", 1);
    Run(WithFolder());
    unsetenv("MACE_TUNING");
  }

  // Of a work group: "conv2d global 2x8x16 local 2x8x4".
  static size_t ItemsOf(const std::string &launch) {
    const size_t at = launch.find("local ");
    size_t sizes[3] = {};
    EXPECT_EQ(std::sscanf(launch.c_str() + at, "local %zux%zux%zu", &sizes[0],
                          &sizes[1], &sizes[2]),
              3)
        << launch;
    return sizes[0] * sizes[1] * sizes[2];
  }
  // Whether the launches of the run are those of the best values.
  void ExpectTuned() const {
    ASSERT_EQ(launches_.size(), 3u);
    for (const std::string &launch : launches_) {
      EXPECT_EQ(ItemsOf(launch), 32u) << launch;
    }
    EXPECT_EQ(on_gpu_, 3u);
  }
  static bool Has(const std::set<std::string> &builds, const char *text) {
    for (const std::string &options : builds) {
      if (options.find(text) != std::string::npos) return true;
    }
    return false;
  }
  // An engine without any tuned value.
  void ExpectGuessed() const {
    EXPECT_EQ(on_gpu_, 3u);
    for (const std::string &launch : launches_) EXPECT_NE(ItemsOf(launch), 32u);
  }

  std::vector<unsigned char> Bytes() const {
    std::ifstream file(File(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static const MaceTestOpenclControl *driver_;
  std::string folder_;
  std::vector<std::string> launches_;  // of the run
  std::set<std::string> builds_;
  std::vector<float> result_;
  size_t on_gpu_ = 0;
};

const MaceTestOpenclControl *TuningTest::driver_ = nullptr;

// MACE_TUNING finds the values; a second engine has them without measuring, and
// computes the same.
TEST_F(TuningTest, AnotherEngineHasTheTunedValues) {
  Tune();
  ExpectTuned();
  EXPECT_TRUE(Has(builds_, "PIXELS=1 -D BLOCKS=1 "));
  const std::vector<std::string> launches = launches_;
  const std::vector<float> result = result_;
  Run(WithFolder());
  ExpectTuned();
  EXPECT_EQ(launches_, launches);
  EXPECT_EQ(result_, result);
  // One queue, and no kernel is run or compiled to measure it: the compiled
  // ones are those of the tuned values.
  EXPECT_EQ(driver_->calls("clCreateCommandQueue"), 1u);
  EXPECT_EQ(driver_->calls("clEnqueueNDRangeKernel"), 3u);
  EXPECT_EQ(driver_->calls("clCreateProgramWithSource"), 0u);
  // Nothing is left to tune.
  setenv("MACE_TUNING", "1", 1);
  Run(WithFolder());
  EXPECT_LT(driver_->calls("clEnqueueNDRangeKernel"), 12u);
  EXPECT_EQ(launches_, launches);
}

TEST_F(TuningTest, ValuesAreThoseOfOneGpu) {
  Tune();
  Run(WithFolder(), "mali_g72");  // which may guess the same tile
  ExpectGuessed();
}

TEST_F(TuningTest, ADamagedFileIsLeftOut) {
  Tune();
  std::ofstream(File(), std::ios::binary | std::ios::in | std::ios::out)
      .seekp(100)
      .write("damaged", 7);
  Run(WithFolder());
  ExpectGuessed();
  Tune();
  Run(WithFolder());
  ExpectTuned();
}

// Values that an application ships, and a file that the environment names.
TEST_F(TuningTest, ValuesAreFoundInEveryPlace) {
  Tune();
  const std::vector<unsigned char> bytes = Bytes();
  ASSERT_FALSE(bytes.empty());
  Run(GPUContextBuilder().Finalize());
  ExpectGuessed();
  EXPECT_FALSE(Has(builds_, kBestTile));
  Run(GPUContextBuilder().SetOpenCLParameterPath(File()).Finalize());
  ExpectTuned();
  Run(GPUContextBuilder()
          .SetOpenCLParameter(bytes.data(), bytes.size())
          .Finalize());
  ExpectTuned();
  setenv("MACE_RUN_PARAMETER_PATH", File().c_str(), 1);
  Run(GPUContextBuilder().Finalize());
  ExpectTuned();
}

TEST_F(TuningTest, WithoutTimeNothingIsTuned) {
  setenv("MACE_TUNING_SECONDS", "0", 1);
  Tune();
  ExpectGuessed();
  EXPECT_NE(access(File().c_str(), F_OK), 0);
}

// Whichever call fails while kernels are tuned, the engine works.
TEST_F(TuningTest, SurvivesFailures) {
  Tune();
  const uint64_t calls = driver_->calls(nullptr);
  ASSERT_GT(calls, 400u);
  setenv("MACE_TUNING", "1", 1);
  for (uint64_t call = 1; call < calls; call += calls / 16) {
    for (const bool is_lost : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "call " << call);
      driver_->reset();
      driver_->set_kernel_nanos(KernelNanos);
      if (is_lost) {
        driver_->lose_device(call);
      } else {
        driver_->fail_call(call, 0);
      }
      Make(GPUContextBuilder().Finalize());
      EXPECT_EQ(result_.size(), static_cast<size_t>(kOutputs));
      driver_->check_leaks();
      EXPECT_EQ(Problems(*driver_), "");
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace test_opencl
}  // namespace mace
