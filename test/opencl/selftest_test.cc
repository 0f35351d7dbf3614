// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The self-test of kernels, on drivers with defects: each start is a process of
// its own.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "test/opencl/load_test_driver.h"

namespace mace {
namespace {

constexpr char kProgram[] = "test/opencl/selftest_program";

struct Start {
  int status = -1;
  std::string output;

  bool Says(const std::string &text) const {
    return output.find(text) != std::string::npos;
  }
};

#define EXPECT_SAYS(start, text) \
  EXPECT_TRUE((start).Says(text)) << (start).output
#define EXPECT_SAYS_NOT(start, text) \
  EXPECT_FALSE((start).Says(text)) << (start).output

class SelfTestTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    // Sets the environment of the programs.
    ASSERT_NE(test_opencl::LoadTestDriver(&why), nullptr) << why;
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    setenv("MACE_TEST_OPENCL_FAMILY", "adreno_630", 1);
  }

  void SetUp() override {
    folder_ = std::string(std::getenv("TEST_TMPDIR")) + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_EQ(mkdir(folder_.c_str(), 0700), 0);
  }

  // A start of the program, in the storage folder of the test.
  Start Run(const std::string &environment, const std::string &mode = "") {
    const std::string command =
        environment + " " + kProgram + " " + folder_ + " " + mode + " 2>&1";
    Start start;
    std::FILE *pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return start;
    char bytes[512];
    size_t count = 0;
    while ((count = std::fread(bytes, 1, sizeof(bytes), pipe)) > 0) {
      start.output.append(bytes, count);
    }
    start.status = pclose(pipe);
    return start;
  }

  static void ExpectRight(const Start &start, int forks) {
    EXPECT_EQ(start.status, 0) << start.output;
    EXPECT_SAYS(start, "result is right");
    EXPECT_SAYS(start, "forks: " + std::to_string(forks) + "\n");
    EXPECT_SAYS(start, "files that stay open: 0");
    EXPECT_SAYS(start, "files of the driver: few");
    EXPECT_SAYS(start, "children left: none");
  }

  std::string folder_;
};

TEST_F(SelfTestTest, ChangesNothingOnAGoodDriver) {
  const Start first = Run("");
  ExpectRight(first, 1);
  EXPECT_SAYS(first, "4 operators on GPU");
  EXPECT_SAYS(first, "float16");
  EXPECT_SAYS_NOT(first, "self-test");
  const Start second = Run("");
  ExpectRight(second, 0);
  EXPECT_SAYS(second, "4 operators on GPU");
}

TEST_F(SelfTestTest, FindsHalfThatIsWrong) {
  for (const int forks : {1, 0}) {
    const Start start = Run("MACE_TEST_OPENCL_DEFECT='wrong half'");
    ExpectRight(start, forks);
    EXPECT_SAYS(start, "4 operators on GPU");
    EXPECT_SAYS(start, "stored in float, self-test: kernel ");
    EXPECT_SAYS(start, "in image of float");
    EXPECT_SAYS(start, "driver ");
    EXPECT_SAYS(start, "instead of");
  }
}

TEST_F(SelfTestTest, FindsImagesThatAreWrong) {
  for (const int forks : {1, 0}) {
    const Start start = Run("MACE_TEST_OPENCL_DEFECT='wrong images'");
    ExpectRight(start, forks);
    EXPECT_SAYS(start, "4 operators on GPU");
    EXPECT_SAYS(start, "stored in buffers of float, self-test: kernel ");
    EXPECT_SAYS_NOT(start, "in image of");
  }
}

TEST_F(SelfTestTest, FindsAKernelThatIsWrong) {
  for (const int forks : {1, 0}) {
    const Start start = Run("MACE_TEST_OPENCL_DEFECT='wrong pooling'");
    ExpectRight(start, forks);
    EXPECT_SAYS(start, "3 operators on GPU");
    EXPECT_SAYS(start, "float16");
    EXPECT_SAYS(start,
                "not on GPU: self-test: kernel pooling of operator "
                "'pool' failed: it gives NaN instead of");
  }
}

TEST_F(SelfTestTest, SurvivesAKernelThatCrashes) {
  for (const int forks : {1, 0}) {
    const Start start = Run("MACE_TEST_OPENCL_DEFECT='abort pooling'");
    ExpectRight(start, forks);
    EXPECT_SAYS(start, "3 operators on GPU");
    EXPECT_SAYS(start,
                "kernel pooling of operator 'pool' ended the test "
                "process by signal 6");
  }
}

TEST_F(SelfTestTest, SurvivesAKernelThatHangs) {
  for (const int forks : {1, 0}) {
    const Start start = Run("MACE_TEST_OPENCL_DEFECT='hang pooling'");
    ExpectRight(start, forks);
    EXPECT_SAYS(start, "3 operators on GPU");
    EXPECT_SAYS(start,
                "kernel pooling of operator 'pool' did not end within 10 s");
  }
}

TEST_F(SelfTestTest, LeavesADriverOutThatCrashesOften) {
  const std::string defect =
      "MACE_TEST_OPENCL_DEFECT='abort conv2d|activation|unary'";
  for (const int forks : {1, 0}) {
    const Start start = Run(defect);
    ExpectRight(start, forks);
    EXPECT_SAYS(start, "GPU is left out: self-test: kernel ");
    EXPECT_SAYS(start, "4 operators on CPU");
  }
}

// The child says nothing about kernels; the process itself crashes once.
TEST_F(SelfTestTest, LeavesADriverOutThatRunsNothing) {
  const std::string defect = "MACE_TEST_OPENCL_DEFECT='abort self_test'";
  EXPECT_NE(Run(defect).status, 0);
  const Start start = Run(defect);
  EXPECT_SAYS(start, "GPU is left out: self-test: a trivial kernel ended");
  EXPECT_SAYS(start, "result is right");
}

TEST_F(SelfTestTest, TestsAgainWhenTheDriverChanges) {
  ExpectRight(Run(""), 1);
  // The driver is open when the new version is seen.
  const std::string update = "MACE_TEST_OPENCL_DRIVER_VERSION=2 ";
  const Start updated = Run(update + "MACE_TEST_OPENCL_DEFECT='wrong pooling'");
  ExpectRight(updated, 0);
  EXPECT_SAYS(updated, "3 operators on GPU");
  EXPECT_SAYS(updated, "driver 2)");
  ExpectRight(Run(update), 0);
}

TEST_F(SelfTestTest, LearnsFromACrashOfItsOwnProcess) {
  const std::string defect = "MACE_TEST_OPENCL_DEFECT='abort pooling'";
  const Start first = Run(defect, "open");
  EXPECT_NE(first.status, 0);
  const Start second = Run(defect, "open");
  ExpectRight(second, 0);
  EXPECT_SAYS(second, "3 operators on GPU");
  EXPECT_SAYS(second, "kernel pooling of operator 'pool' ended the process");
}

// What another plan than the declared one has is tested in the process.
TEST_F(SelfTestTest, FindsWhatIsNewInARun) {
  ExpectRight(Run(""), 1);
  ExpectRight(Run("", "nchw"), 0);
  std::remove((folder_ + "/mace_cl_compiled_program.bin").c_str());
  std::remove((folder_ + "/mace_cl_self_test.bin").c_str());
  const std::string defect = "MACE_TEST_OPENCL_DEFECT='wrong =NF'";
  ExpectRight(Run(defect), 1);
  const Start first = Run(defect, "nchw");
  ExpectRight(first, 0);
  EXPECT_SAYS(first, "GPU is left out: self-test: kernel conv2d of operator");
  const Start second = Run(defect, "nchw");
  ExpectRight(second, 0);
  EXPECT_SAYS(second, "3 operators on GPU");
}

TEST_F(SelfTestTest, KnowsTheResultsOfHalfArithmetic) {
  for (const int forks : {1, 0}) {
    const Start start = Run("", "half");
    ExpectRight(start, forks);
    EXPECT_SAYS(start, "4 operators on GPU");
  }
}

TEST_F(SelfTestTest, WorksWhateverTheApplicationDoesWithSigchld) {
  ExpectRight(Run("MACE_TEST_OPENCL_DEFECT='abort pooling'", "ignore"), 1);
  std::remove((folder_ + "/mace_cl_self_test.bin").c_str());
  const Start start = Run("MACE_TEST_OPENCL_DEFECT='abort pooling'", "reap");
  ExpectRight(start, 1);
  EXPECT_SAYS(start, "3 operators on GPU");
}

TEST_F(SelfTestTest, IsOffWhereTheEnvironmentSaysSo) {
  const Start start =
      Run("MACE_OPENCL_SELF_TEST=0 MACE_TEST_OPENCL_DEFECT='wrong pooling'");
  EXPECT_SAYS(start, "result is wrong");
  EXPECT_SAYS(start, "forks: 0");
}

}  // namespace
}  // namespace mace
