// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <vector>

#include "mace/public/mace.h"
#include "mace/runtimes/testing/fake_device.h"

namespace mace {
namespace core_test {
namespace {

FakeDeviceSettings Taking(bool (*takes)(size_t, const GraphNode &)) {
  FakeDeviceSettings settings;
  settings.takes = takes;
  return settings;
}

TEST(CapabilityTest, ListsWhatIsLinkedAndStarts) {
  std::vector<RuntimeType> types = {RT_HTA};
  ASSERT_TRUE(GetRuntimeTypes(&types) == MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(types, (std::vector<RuntimeType>{RT_CPU, RT_APU}));
  EXPECT_EQ(GetRuntimeTypes(nullptr).code(), MaceStatus::MACE_INVALID_ARGS);
}

TEST(CapabilityTest, LeavesOutWhatDoesNotStart) {
  const FakeDeviceControl control({});
  FakeDeviceControl::FailCall(1);
  std::vector<RuntimeType> types;
  ASSERT_TRUE(GetRuntimeTypes(&types) == MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(types, (std::vector<RuntimeType>{RT_CPU}));
  FakeDeviceControl::FailCall(1);
  EXPECT_FALSE(GetCapability(RT_APU).supported);
}

TEST(CapabilityTest, TimesTheCpu) {
  const Capability cpu = GetCapability(RT_CPU);
  EXPECT_TRUE(cpu.supported);
  EXPECT_GT(cpu.float32_performance.exec_time, 0);
  EXPECT_LT(cpu.quantized8_performance.exec_time, 0);
  // In units of a thousand seconds.
  const Capability scaled = GetCapability(RT_CPU, 1e6f);
  EXPECT_GT(scaled.float32_performance.exec_time, 0);
  EXPECT_LT(scaled.float32_performance.exec_time, 1);
}

TEST(CapabilityTest, TimesOnlyWhatRunsTheWholeWork) {
  {
    const FakeDeviceControl control(Taking(TakesAll));
    const Capability whole = GetCapability(RT_APU);
    EXPECT_TRUE(whole.supported);
    EXPECT_GT(whole.float32_performance.exec_time, 0);
  }
  const FakeDeviceControl control(Taking(TakesEverySecond));
  const Capability parts = GetCapability(RT_APU);
  EXPECT_TRUE(parts.supported);
  EXPECT_LT(parts.float32_performance.exec_time, 0);
}

TEST(CapabilityTest, KnowsWhatIsNotThere) {
  for (RuntimeType type :
       {RT_OPENCL, RT_HEXAGON, static_cast<RuntimeType>(9)}) {
    const Capability none = GetCapability(type);
    EXPECT_FALSE(none.supported);
    EXPECT_LT(none.float32_performance.exec_time, 0);
  }
}

}  // namespace
}  // namespace core_test
}  // namespace mace
