// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/gpu_verdict.h"

#include <gtest/gtest.h>

#include <string>

namespace mace {
namespace {

TEST(GpuVerdictTest, IsReadAsItWasWritten) {
  GpuVerdict verdict;
  verdict.in_float = true;
  verdict.in_buffers = true;
  verdict.why = "half is\nwrong";
  verdict.refusals[7] = "kernel a crashes";
  verdict.refusals[12] = "kernel b is wrong";
  verdict.refused = "enough";
  verdict.good = {"0123456789abcdef", "fedcba9876543210"};
  GpuVerdict read;
  ASSERT_TRUE(read.Parse(verdict.ToText()));
  EXPECT_TRUE(read.in_float);
  EXPECT_TRUE(read.in_buffers);
  EXPECT_EQ(read.why, "half is wrong");
  EXPECT_EQ(read.refusals, verdict.refusals);
  EXPECT_EQ(read.refused, "enough");
  EXPECT_EQ(read.good, verdict.good);
  EXPECT_EQ(read.Demotion(), "stored in buffers of float, half is wrong");
}

TEST(GpuVerdictTest, RefusesTextThatIsNotWhole) {
  GpuVerdict verdict;
  verdict.refusals[7] = "kernel a crashes";
  verdict.why = "half";
  const std::string text = verdict.ToText();
  for (size_t length = 0; length + 1 < text.size(); ++length) {
    EXPECT_FALSE(GpuVerdict().Parse(text.substr(0, length))) << length;
  }
  EXPECT_TRUE(GpuVerdict().Parse(text));
  EXPECT_EQ(GpuVerdict().Demotion(), "");
}

}  // namespace
}  // namespace mace
