// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How launches reach the GPU: in parts, by recordings, with hints and flushes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "test/opencl/engine_testing.h"

namespace mace {
namespace test_opencl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLimit[] = "MACE_LIMIT_OPENCL_KERNEL_TIME";
constexpr char kWindow[] = "MACE_OPENCL_QUEUE_WINDOW_SIZE";
constexpr char kReplay[] = "MACE_OPENCL_COMMAND_BUFFERS";
constexpr char kLaunch[] = "clEnqueueNDRangeKernel";

// A launch as the driver saw it.
struct SeenLaunch {
  std::string kernel;
  std::array<size_t, 3> global = {};
  std::array<size_t, 3> local = {};
  std::array<size_t, 3> offset = {};

  size_t items() const { return global[0] * global[1] * global[2]; }
  size_t groups() const { return items() / (local[0] * local[1] * local[2]); }
};

SeenLaunch Parse(const char *detail) {
  SeenLaunch launch;
  char name[100] = "";
  std::array<size_t, 3> &g = launch.global;
  std::array<size_t, 3> &l = launch.local;
  std::array<size_t, 3> &o = launch.offset;
  const int found = std::sscanf(
      detail, "%99s global %zux%zux%zu local %zux%zux%zu offset %zux%zux%zu",
      name, &g[0], &g[1], &g[2], &l[0], &l[1], &l[2], &o[0], &o[1], &o[2]);
  EXPECT_GE(found, 7) << detail;
  launch.kernel = name;
  return launch;
}

class CommandsTest : public EngineOnTestDriver {
 protected:
  void TearDown() override {
    for (const char *variable : {kLimit, kWindow, kReplay}) unsetenv(variable);
    driver_->reset();
  }

  static std::vector<SeenLaunch> Launches() {
    std::vector<SeenLaunch> launches;
    MaceTestOpenclCall call;
    for (size_t i = 0; driver_->log_entry(i, &call) != 0; ++i) {
      if (std::string(call.function) == kLaunch) {
        launches.push_back(Parse(call.detail));
      }
    }
    return launches;
  }

  static std::vector<std::string> Details(const std::string &function) {
    std::vector<std::string> details;
    MaceTestOpenclCall call;
    for (size_t i = 0; driver_->log_entry(i, &call) != 0; ++i) {
      if (call.function == function) details.emplace_back(call.detail);
    }
    return details;
  }

  // The launches of one run, each of them whole.
  static std::vector<SeenLaunch> WholeLaunches() {
    driver_->reset();
    EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 1), 8u);
    return Launches();
  }

  // That the last launches of the log are those of `whole`, in parts that run
  // every item once and have at most `most` groups. Returns their number.
  static size_t ExpectParts(const std::vector<SeenLaunch> &whole, size_t most) {
    const std::vector<SeenLaunch> parts = Launches();
    size_t at = parts.size();
    for (size_t i = whole.size(); i-- > 0;) {
      SCOPED_TRACE(whole[i].kernel);
      std::set<std::array<size_t, 3>> seen;
      while (seen.size() < whole[i].items() && at > 0) {
        const SeenLaunch &part = parts[--at];
        EXPECT_EQ(part.kernel, whole[i].kernel);
        EXPECT_LE(part.groups(), most);
        const size_t before = seen.size();
        for (size_t z = 0; z < part.global[2]; ++z) {
          for (size_t y = 0; y < part.global[1]; ++y) {
            for (size_t x = 0; x < part.global[0]; ++x) {
              const std::array<size_t, 3> item = {
                  part.offset[0] + x, part.offset[1] + y, part.offset[2] + z};
              EXPECT_LT(item[0], whole[i].global[0]);
              EXPECT_LT(item[1], whole[i].global[1]);
              EXPECT_LT(item[2], whole[i].global[2]);
              seen.insert(item);
            }
          }
        }
        EXPECT_EQ(seen.size(), before + part.items());
        if (::testing::Test::HasFailure()) return 0;
      }
      EXPECT_EQ(seen.size(), whole[i].items());
    }
    return parts.size() - at;
  }

  // As SurvivesTheFailureOfEveryCall, from the first kernel on: what comes
  // before is the same whatever the commands are.
  static void FailEveryCall(const char *family, uint64_t nanos_per_group) {
    const auto start = [&] {
      driver_->reset();
      driver_->set_family(family);
      driver_->set_kernel_times(nanos_per_group);
    };
    MakeOptions options = OnStoredPrograms({RT_OPENCL, RT_CPU});
    EXPECT_SUCCESS(options.config.SetGPUHints(PERF_HIGH, PRIORITY_LOW));
    for (int i = 0; i < 2; ++i) {  // first, the programs are stored
      start();
      EXPECT_EQ(MakeAndRun(options), 8u);
    }
    uint64_t failed = 0;
    for (uint64_t call = CallsBeforeKernels() + 1;; ++call) {
      SCOPED_TRACE(testing::Message() << family << ", call " << call);
      start();
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

TEST_F(CommandsTest, SplitsKernelsByMeasuredTimes) {
  const std::vector<SeenLaunch> whole = WholeLaunches();
  ASSERT_EQ(whole.size(), kLaunches);
  driver_->reset();
  driver_->set_kernel_times(100000);
  setenv(kLimit, "1", 1);
  std::string explained;
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 4, &explained), 8u);
  // 10 groups take 1 ms.
  EXPECT_GT(ExpectParts(whole, 10), whole.size() + 5);
  EXPECT_THAT(explained, HasSubstr(" parts"));
  ExpectClean();
}

TEST_F(CommandsTest, IsRightInManyParts) {
  const std::vector<SeenLaunch> whole = WholeLaunches();
  driver_->reset();
  driver_->set_kernel_times(1000000);
  setenv(kLimit, "0.5", 1);
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 4), 8u);
  size_t groups = 0;
  for (const SeenLaunch &launch : whole) groups += launch.groups();
  EXPECT_EQ(ExpectParts(whole, 1), groups);
  ExpectClean();
}

// By the times of the real driver.
TEST_F(CommandsTest, MeasuresKernels) {
  driver_->reset();
  setenv(kLimit, "0.001", 1);
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 3), 8u);
  EXPECT_GT(driver_->calls("clGetEventProfilingInfo"), 16u);
  EXPECT_GT(driver_->calls(kLaunch), 3 * kLaunches);
  ExpectClean();
}

TEST_F(CommandsTest, StaysWithoutPartsBelowTheLimit) {
  driver_->reset();
  driver_->set_kernel_times(1000);
  setenv(kLimit, "1", 1);
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 3), 8u);
  EXPECT_EQ(driver_->calls(kLaunch), 3 * kLaunches);
  // The first run tells enough.
  EXPECT_EQ(driver_->calls("clGetEventProfilingInfo"), 2 * kLaunches);
  ExpectClean();
}

TEST_F(CommandsTest, EstimatesWithoutAClock) {
  setenv(kLimit, "0.001", 1);
  const std::vector<const char *> clock = {"clGetEventProfilingInfo",
                                           "clCreateCommandQueue"};
  for (const char *function : clock) {
    driver_->reset();
    // The second queue is the one that measures.
    const bool is_queue = function == clock[1];
    driver_->fail_function(function, is_queue ? 2 : 1, 0);
    std::string explained;
    EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 3, &explained), 8u);
    EXPECT_EQ(driver_->failures(), 1u);
    EXPECT_THAT(explained, HasSubstr("times are estimated: "));
    EXPECT_THAT(explained, HasSubstr(function));
    // Its convolutions are estimated at more.
    EXPECT_GT(driver_->calls(kLaunch), 3 * kLaunches);
    ExpectClean();
  }
}

TEST_F(CommandsTest, CountsPartsInTheWindow) {
  driver_->reset();
  driver_->set_kernel_times(1000000);
  setenv(kLimit, "0.5", 1);
  setenv(kWindow, "3", 1);
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 3), 8u);
  EXPECT_GE(driver_->calls("clWaitForEvents"),
            driver_->calls(kLaunch) / 3 - 3 * 8);
  ExpectClean();
}

// 70001 rows are as many groups.
TEST_F(CommandsTest, KeepsTheLimitOfGroups) {
  constexpr int64_t kRows = 70001;
  ModelBuilder model;
  model.Input("x", {1, kRows, 1, 4})
      .Operator("tanh", "Activation", {"x"}, {"y"},
                {core_test::StringAttribute("activation", "TANH")})
      .Output("y");
  Random random(5, Random::Quiet());
  const std::vector<float> input = random.Floats({kRows, 4}).floats();
  std::vector<float> results[2];
  driver_->reset();
  ASSERT_NE(driver_->set_family("nvidia_h100"), 0);
  for (int gpu = 0; gpu < 2; ++gpu) {
    const MadeEngine made =
        core_test::Make(model, On({gpu == 1 ? RT_OPENCL : RT_CPU}));
    ASSERT_OK(made.status);
    Tensors outputs = {{"y", core_test::Room(kRows * 4)}};
    EXPECT_SUCCESS(
        made.engine->Run({{"x", Floats({1, kRows, 1, 4}, input)}}, &outputs));
    results[gpu] = Values(outputs["y"]);
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  for (size_t i = 0; i < results[0].size(); ++i) {
    ASSERT_NEAR(results[0][i], results[1][i], 1e-5) << i;
  }
  EXPECT_EQ(driver_->calls(kLaunch), 2u);
  ExpectClean();
}

TEST_F(CommandsTest, PassesHintsToTheContextOfAdreno) {
  driver_->reset();
  ASSERT_NE(driver_->set_family("adreno_630"), 0);
  MakeOptions options = On({RT_OPENCL, RT_CPU});
  EXPECT_EQ(MakeAndRun(options), 8u);
  EXPECT_SUCCESS(options.config.SetGPUHints(PERF_HIGH, PRIORITY_LOW));
  EXPECT_EQ(MakeAndRun(options), 8u);
  EXPECT_SUCCESS(options.config.SetGPUHints(PERF_NORMAL, PRIORITY_DEFAULT));
  EXPECT_EQ(MakeAndRun(options), 8u);
  EXPECT_THAT(Details("clCreateContext"),
              ::testing::ElementsAre("", "40c2=40c3 40c9=40cc", "40c2=40c4"));
  EXPECT_EQ(driver_->calls("clCreateCommandQueueWithProperties"), 0u);
  ExpectClean();
}

TEST_F(CommandsTest, PassesHintsToTheQueue) {
  const auto properties = [](const char *family) {
    driver_->reset();
    EXPECT_NE(driver_->set_family(family), 0);
    MakeOptions options = On({RT_OPENCL, RT_CPU});
    EXPECT_SUCCESS(options.config.SetGPUHints(PERF_LOW, PRIORITY_HIGH));
    EXPECT_EQ(MakeAndRun(options), 8u);
    EXPECT_THAT(Details("clCreateContext"), ::testing::ElementsAre(""));
    ExpectClean();
    return Details("clCreateCommandQueueWithProperties");
  };
  EXPECT_THAT(properties("mali_g710"), ::testing::ElementsAre("1096=1 1093=0"));
  EXPECT_THAT(properties("intel_uhd770"),
              ::testing::ElementsAre("1096=1 1097=4 1093=0"));
  EXPECT_THAT(properties("mali_g72"), ::testing::IsEmpty());
}

TEST_F(CommandsTest, GoesWithoutHintsThatADriverRefuses) {
  for (const char *family : {"adreno_630", "mali_g710"}) {
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    driver_->fail_function("clCreateContext", 1, 0);
    driver_->fail_function("clCreateCommandQueueWithProperties", 1, 0);
    MakeOptions options = On({RT_OPENCL, RT_CPU});
    EXPECT_SUCCESS(options.config.SetGPUHints(PERF_HIGH, PRIORITY_HIGH));
    const size_t on_gpu = MakeAndRun(options);
    // The Mali's context has no hints to go without.
    EXPECT_EQ(on_gpu, std::string(family) == "adreno_630" ? 8u : 0u);
    ExpectClean();
  }
  driver_->reset();
  ASSERT_NE(driver_->set_family("mali_g710"), 0);
  driver_->fail_function("clCreateCommandQueueWithProperties", 1, 0);
  MakeOptions options = On({RT_OPENCL, RT_CPU});
  EXPECT_SUCCESS(options.config.SetGPUHints(PERF_HIGH, PRIORITY_HIGH));
  EXPECT_EQ(MakeAndRun(options), 8u);
  ExpectClean();
}

TEST_F(CommandsTest, SaysThatTheFirstEngineChoseTheHints) {
  driver_->reset();
  ASSERT_NE(driver_->set_family("adreno_630"), 0);
  {
    MakeOptions first = On({RT_OPENCL});
    EXPECT_SUCCESS(first.config.SetGPUHints(PERF_NORMAL, PRIORITY_LOW));
    const MadeEngine made = core_test::Make(Network(), first);
    ASSERT_OK(made.status);
    EXPECT_THAT(made.engine->Explain(), Not(HasSubstr("hints")));
    MakeOptions second = On({RT_OPENCL});
    EXPECT_SUCCESS(second.config.SetGPUHints(PERF_HIGH, PRIORITY_LOW));
    const MadeEngine other = core_test::Make(Network(), second);
    ASSERT_OK(other.status);
    EXPECT_THAT(other.engine->Explain(),
                HasSubstr("hints are those of the first engine of the process "
                          "(perf normal, priority low), not perf high, "
                          "priority low"));
    EXPECT_EQ(driver_->calls("clCreateContext"), 1u);
  }
  ExpectClean();
}

TEST_F(CommandsTest, FlushesAsOftenAsTheFamilyNeeds) {
  setenv(kReplay, "0", 1);
  const auto flushes = [](const char *family) {
    driver_->reset();
    EXPECT_NE(driver_->set_family(family), 0);
    EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 1), 8u);
    EXPECT_EQ(driver_->calls(kLaunch), kLaunches);
    ExpectClean();
    return driver_->calls("clFlush");
  };
  const uint64_t once = flushes("nvidia_h100");
  EXPECT_EQ(flushes("powervr_ge8320"), once + 1);  // every 4
  EXPECT_EQ(flushes("mali_g72"), once);            // every 24
  EXPECT_EQ(flushes("adreno_740"), once);
}

TEST_F(CommandsTest, ReplaysCommandBuffers) {
  driver_->reset();
  setenv(kReplay, "1", 1);
  std::string explained;
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), kRounds, &explained), 8u);
  EXPECT_EQ(driver_->calls("clCreateCommandBufferKHR"), 1u);
  EXPECT_EQ(driver_->calls("clCommandNDRangeKernelKHR"), kLaunches);
  EXPECT_EQ(driver_->calls("clEnqueueCommandBufferKHR"), 1u * kRounds);
  EXPECT_EQ(driver_->calls(kLaunch), 0u);
  EXPECT_THAT(explained, HasSubstr("recorded with the rest"));
  ExpectClean();
}

TEST_F(CommandsTest, ReplaysRecordingsOfAdreno) {
  driver_->reset();
  ASSERT_NE(driver_->set_family("adreno_740"), 0);
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 3), 8u);
  EXPECT_EQ(driver_->calls("clNewRecordingQCOM"), 1u);
  EXPECT_EQ(driver_->calls("clEnqueueRecordingQCOM"), 3u);
  EXPECT_EQ(driver_->calls(kLaunch), kLaunches);  // to record
  ExpectClean();
}

TEST_F(CommandsTest, LaunchesOneByOneWhereAskedTo) {
  const struct {
    const char *variable;
    const char *value;
  } reasons[] = {{kReplay, "0"}, {kWindow, "100"}, {kLimit, "100"}};
  for (const auto &reason : reasons) {
    driver_->reset();
    ASSERT_NE(driver_->set_family("adreno_740"), 0);
    setenv(reason.variable, reason.value, 1);
    EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU})), 8u);
    unsetenv(reason.variable);
    EXPECT_EQ(driver_->calls("clNewRecordingQCOM"), 0u) << reason.variable;
    EXPECT_EQ(driver_->calls(kLaunch), kLaunches * kRounds) << reason.variable;
    ExpectClean();
  }
  // A driver of a processor runs both the launches and the replay.
  driver_->reset();
  EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU})), 8u);
  EXPECT_EQ(driver_->calls("clCreateCommandBufferKHR"), 0u);
}

TEST_F(CommandsTest, LaunchesOneByOneInATrace) {
  driver_->reset();
  ASSERT_NE(driver_->set_family("adreno_740"), 0);
  const MadeEngine made = core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
  ASSERT_OK(made.status);
  RunMetadata metadata;
  Tensors outputs = {{"y", core_test::Room(kClasses)}};
  EXPECT_SUCCESS(made.engine->Run({{"x", Floats({1, 12, 70, 3}, Image(0))}},
                                  &outputs, &metadata));
  ExpectRight(Values(outputs["y"]), 0);
  EXPECT_EQ(metadata.op_stats.size(), kLaunches);
  EXPECT_EQ(driver_->calls("clEnqueueRecordingQCOM"), 0u);
}

TEST_F(CommandsTest, RecordsAnewForOtherMemory) {
  driver_->reset();
  ASSERT_NE(driver_->set_family("adreno_740"), 0);
  {
    const MadeEngine made = core_test::Make(Network(), On({RT_OPENCL}));
    ASSERT_OK(made.status);
    std::vector<float> result;
    EXPECT_SUCCESS(RunOnce(made, 0, &result));
    // Its output is in another order, and its memory is others'.
    Tensors outputs = {{"y", core_test::Room(kClasses)}};
    std::vector<float> image = Image(1);
    std::vector<float> nchw(image.size());
    for (size_t i = 0; i < image.size(); ++i) {
      nchw[i % 3 * (image.size() / 3) + i / 3] = image[i];
    }
    EXPECT_SUCCESS(made.engine->Run(
        {{"x", Floats({1, 3, 12, 70}, nchw, DataFormat::NCHW)}}, &outputs));
    ExpectRight(Values(outputs["y"]), 1);
    EXPECT_SUCCESS(RunOnce(made, 0, &result));
    ExpectRight(result, 0);
  }
  EXPECT_EQ(driver_->calls("clNewRecordingQCOM"), 2u);
  EXPECT_EQ(driver_->calls("clEnqueueRecordingQCOM"), 3u);
  ExpectClean();
}

TEST_F(CommandsTest, GoesOnWithoutRecordings) {
  setenv(kReplay, "1", 1);
  const struct {
    const char *family;
    const char *function;
    uint64_t n;
    const char *remark;
  } failures[] = {
      {"target", "clCreateCommandBufferKHR", 1, "not recorded"},
      {"target", "clCommandNDRangeKernelKHR", 3, "not recorded"},
      {"target", "clFinalizeCommandBufferKHR", 1, "not recorded"},
      {"target", "clEnqueueCommandBufferKHR", 2, "not replayed"},
      {"adreno_740", "clNewRecordingQCOM", 1, "not recorded"},
      {"adreno_740", kLaunch, 2, "not recorded"},
      {"adreno_740", "clEndRecordingQCOM", 1, "not recorded"},
      {"adreno_740", "clEnqueueRecordingQCOM", 1, "not replayed"},
  };
  for (const auto &failure : failures) {
    SCOPED_TRACE(failure.function);
    driver_->reset();
    ASSERT_NE(driver_->set_family(failure.family), 0);
    driver_->fail_function(failure.function, failure.n, 0);
    std::string explained;
    EXPECT_EQ(MakeAndRun(On({RT_OPENCL, RT_CPU}), 3, &explained), 8u);
    EXPECT_EQ(driver_->failures(), 1u);
    EXPECT_THAT(explained, HasSubstr(std::string(failure.remark) + ": " +
                                     failure.function));
    EXPECT_GE(driver_->calls(kLaunch), kLaunches);
    ExpectClean();
  }
}

TEST_F(CommandsTest, SurvivesFailuresOfCommandBuffers) {
  setenv(kReplay, "1", 1);
  FailEveryCall("target", 0);
}

TEST_F(CommandsTest, SurvivesFailuresOfRecordings) {
  FailEveryCall("adreno_740", 0);
}

TEST_F(CommandsTest, SurvivesTheLossOfItsRecordings) {
  const auto start = [] {
    driver_->reset();
    ASSERT_NE(driver_->set_family("adreno_740"), 0);
  };
  const MakeOptions options = OnStoredPrograms({RT_OPENCL, RT_CPU});
  for (int i = 0; i < 2; ++i) {  // first, the programs are stored
    start();
    EXPECT_EQ(MakeAndRun(options), 8u);
  }
  const uint64_t calls = driver_->calls(nullptr);
  for (uint64_t call = 1; call < calls; call += 11) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    start();
    driver_->lose_device(call);
    MakeAndRun(options);
    ExpectClean();
    if (HasFailure()) break;
  }
}

TEST_F(CommandsTest, SurvivesFailuresOfParts) {
  setenv(kLimit, "1", 1);
  FailEveryCall("target", 25000);
}

}  // namespace
}  // namespace test_opencl
}  // namespace mace
