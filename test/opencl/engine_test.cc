// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Engines on the GPU, on the test driver: failures of every call, and the
// limits of other GPUs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "test/opencl/engine_testing.h"

namespace mace {
namespace test_opencl {
namespace {

class EngineTest : public EngineOnTestDriver {
 protected:
  // Lets each call fail once, up to call `last`, or until there are no more.
  static void ExpectFailuresToBeHarmless(const char *family,
                                         const MakeOptions &options,
                                         uint64_t last) {
    uint64_t failed = 0;
    for (uint64_t call = 1; call <= last; ++call) {
      SCOPED_TRACE(testing::Message() << family << ", call " << call);
      driver_->reset();
      driver_->set_family(family);
      driver_->fail_call(call, 0);
      MakeAndRun(options);
      const bool done = driver_->failures() == 0;
      ExpectClean();
      if (done || HasFailure()) break;
      ++failed;
    }
    EXPECT_GT(failed, 50u);
  }
};

TEST_F(EngineTest, RunsTheWholeNetwork) {
  driver_->reset();
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU})), 8u);
  ExpectClean();
}

// Whichever call fails, the results are right: the CPU runs the operators.
TEST_F(EngineTest, SurvivesTheFailureOfEveryCall) {
  for (const char *family : {"target", "adreno_630"}) {
    ExpectFailuresToBeHarmless(family, OnStoredPrograms({RT_OPENCL, RT_CPU}),
                               UINT64_MAX);
  }
}

// From the first kernel on, it makes no difference where programs come from.
TEST_F(EngineTest, SurvivesTheFailureOfEveryCallThatCompiles) {
  const MakeOptions options = On({RT_OPENCL, RT_CPU});
  driver_->reset();
  EXPECT_EQ(MakeAndRun(options), 8u);
  ExpectFailuresToBeHarmless("target", options, CallsBeforeKernels());
}

TEST_F(EngineTest, SurvivesTheLossOfItsContext) {
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
TEST_F(EngineTest, NamesTheCallThatFailed) {
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
    // With storage, the driver is opened later.
    MakeOptions options = On({RT_OPENCL});
    EXPECT_SUCCESS(options.config.SetGPUContext(
        GPUContextBuilder()
            .SetStoragePath(std::getenv("TEST_TMPDIR"))
            .Finalize()));
    driver_->fail_function(failure.function, failure.n, 0);
    const MadeEngine later = core_test::Make(Network(), options);
    EXPECT_NE(later.status.code(), MaceStatus::MACE_SUCCESS);
    EXPECT_MENTIONS(later.status, failure.function);
  }
}

TEST_F(EngineTest, KeepsTheQueueShort) {
  driver_->reset();
  setenv("MACE_OPENCL_QUEUE_WINDOW_SIZE", "3", 1);
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU})), 8u);
  unsetenv("MACE_OPENCL_QUEUE_WINDOW_SIZE");
  // It waits after the third and the sixth launch of a run.
  EXPECT_EQ(driver_->calls("clEnqueueNDRangeKernel"), kLaunches * kRounds);
  EXPECT_EQ(driver_->calls("clWaitForEvents"), 2u * kRounds);
  ExpectClean();
}

TEST_F(EngineTest, KeepsALimitOfMemory) {
  driver_->reset();
  // Few kernels, since compiling takes most of the time.
  ModelBuilder model;
  model.Input("x", {1, 8, 8, 4})
      .Operator("a", "Activation", {"x"}, {"t"},
                {core_test::StringAttribute("activation", "TANH")})
      .Operator("b", "Activation", {"t"}, {"y"},
                {core_test::StringAttribute("activation", "TANH")})
      .Output("y");
  const Tensors inputs = {
      {"x", Floats({1, 8, 8, 4}, std::vector<float>(256, 1))}};
  Tensors outputs = {{"y", core_test::Room(256)}};
  MakeOptions options = OnStoredPrograms({RT_OPENCL});
  MadeEngine made = core_test::Make(model, options);
  ASSERT_OK(made.status);
  ASSERT_OK(made.engine->Run(inputs, &outputs));
  const EngineStats stats = made.engine->GetStats();
  ASSERT_GT(stats.arena_bytes, 0u);
  const size_t total =
      stats.arena_bytes + stats.constant_bytes + stats.prepared_bytes;
  ASSERT_OK(options.config.SetMemoryLimit(total));
  made = core_test::Make(model, options);
  ASSERT_OK(made.status);
  ASSERT_OK(made.engine->Run(inputs, &outputs));
  EXPECT_TRUE(made.engine->GetPlacement().left_out.empty());
  // The processor takes the place of the GPU, if it needs less.
  ASSERT_OK(options.config.SetMemoryLimit(total - stats.arena_bytes + 1));
  made = core_test::Make(model, options);
  ASSERT_OK(made.status);
  EXPECT_CODE(made.engine->Run(inputs, &outputs), MACE_OUT_OF_RESOURCES);
  const std::vector<DeviceRefusal> left_out =
      made.engine->GetPlacement().left_out;
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_NE(left_out[0].reason.find("bytes on the GPU, over the limit)"),
            std::string::npos)
      << left_out[0].reason;
}

// Where drivers make images of buffers, and are known to do it right.
TEST_F(EngineTest, HasImagesInTheBufferOfTensors) {
  for (const auto &[family, views] : {std::pair{"adreno_630", true},
                                      {"mali_g710", true},
                                      {"mali_g72", false},
                                      {"powervr_ge8320", false}}) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    setenv("MACE_OPENCL_STORAGE", "image", 1);
    EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU})), 8u);
    unsetenv("MACE_OPENCL_STORAGE");
    // The first is made to see whether the driver can.
    EXPECT_EQ(driver_->calls("clCreateSubBuffer") > 1, views);
    ExpectClean();
  }
}

// Programs are compiled once for each device and driver.
TEST_F(EngineTest, StoresItsPrograms) {
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
TEST_F(EngineTest, KeepsTheLimitsOfEveryFamily) {
  for (size_t i = 0; driver_->family_name(i) != nullptr; ++i) {
    const std::string family = driver_->family_name(i);
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family.c_str()), 0);
    const size_t on_gpu = MakeAndRun(On({RT_OPENCL, RT_CPU}));
    if (family == "opencl_1_1") {
      EXPECT_EQ(on_gpu, 0u);
    } else if (family == "work_items_flat") {
      EXPECT_GT(on_gpu, 3u);
    } else {
      EXPECT_EQ(on_gpu, 8u);
    }
    ExpectClean();
  }
}

// Concatenations of channels, of their results, of rows, and for the caller.
ModelBuilder Joins() {
  using core_test::IntAttribute;
  using core_test::StringAttribute;
  Random random(2, Random::Quiet());
  ModelBuilder model;
  model.Input("x", {1, 6, 10, 8});
  const auto conv = [&](const std::string &name, int64_t channels) {
    AddPacked("f" + name, {channels, 3, 3, 8}, &random, &model);
    model.Operator("conv " + name, "Conv2D", {"x", "f" + name}, {name},
                   {StringAttribute("padding", "SAME")});
  };
  const auto activate = [&](const std::string &from, const std::string &to,
                            const std::string &activation) {
    model.Operator(activation + to, "Activation", {from}, {to},
                   {StringAttribute("activation", activation)});
  };
  const auto join = [&](const std::vector<std::string> &from,
                        const std::string &to, int64_t axis) {
    model.Operator("join " + to, "Concat", from, {to},
                   {IntAttribute("axis", axis)});
  };
  conv("a", 16);
  conv("b", 16);
  conv("c", 5);
  conv("d", 8);
  join({"a", "b", "c"}, "abc", 3);
  join({"d", "abc"}, "dabc", 3);
  activate("dabc", "e", "RELU");
  activate("dabc", "f", "TANH");
  join({"e", "f"}, "ef", 1);
  activate("ef", "y", "SIGMOID");
  // Another reader of a part; dense outputs begin at any channel.
  activate("b", "g", "TANH");
  conv("h", 7);
  join({"h", "g"}, "z", 3);
  return model.Output("y").Output("z");
}

TEST_F(EngineTest, WritesWhatItJoinsInPlace) {
  const std::vector<float> x =
      Random(3, Random::Quiet()).Floats({1, 6, 10, 8}).floats();
  const auto run = [&x](const MakeOptions &options) {
    Tensors outputs = {{"y", core_test::Room(12 * 10 * 45)},
                       {"z", core_test::Room(6 * 10 * 23)}};
    const MadeEngine made = core_test::Make(Joins(), options);
    EXPECT_SUCCESS(made.status);
    if (made.engine != nullptr) {
      EXPECT_SUCCESS(
          made.engine->Run({{"x", Floats({1, 6, 10, 8}, x)}}, &outputs));
    }
    std::vector<float> values = Values(outputs["y"]);
    const std::vector<float> more = Values(outputs["z"]);
    values.insert(values.end(), more.begin(), more.end());
    return values;
  };
  const std::vector<float> wanted = run(On({RT_CPU}));
  for (const char *family :
       {"target", "adreno_630", "mali_g710", "powervr_ge8320", "nvidia_h100"}) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    const std::vector<float> found = run(On({RT_OPENCL, RT_CPU}));
    ASSERT_EQ(found.size(), wanted.size());
    double worst = 0;
    for (size_t k = 0; k < wanted.size(); ++k) {
      const double error = std::fabs(found[k] - wanted[k]);
      worst = std::isnan(error) ? 1e9 : std::max(worst, error);
    }
    EXPECT_LE(worst, 1e-5);
    // 5 convolutions and 4 activations.
    EXPECT_EQ(driver_->calls("clEnqueueNDRangeKernel"), 9u);
    ExpectClean();
  }
}

}  // namespace
}  // namespace test_opencl
}  // namespace mace
