// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/cpu_topology.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <climits>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace mace {
namespace {

// A folder that looks like the root of a device.
class FakeDevice {
 public:
  FakeDevice() {
    const ::testing::TestInfo *info =
        ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = ::testing::TempDir() + "/topology_" + info->name();
  }
  void Write(const std::string &path, const std::string &text) {
    const std::string full = root_ + "/" + path;
    for (size_t slash = full.find('/', 1); slash != std::string::npos;
         slash = full.find('/', slash + 1)) {
      mkdir(full.substr(0, slash).c_str(), 0755);
    }
    std::ofstream(full) << text;
  }
  void SetFrequencies(const std::vector<int64_t> &khz) {
    for (size_t i = 0; i < khz.size(); ++i) {
      Write("sys/devices/system/cpu/cpu" + std::to_string(i) +
                "/cpufreq/cpuinfo_max_freq",
            std::to_string(khz[i]) + "\n");
    }
  }
  const std::string &root() const { return root_; }

 private:
  std::string root_;
};

std::vector<int> Mask(int count) {
  std::vector<int> ids;
  for (int i = 0; i < count; ++i) ids.push_back(i);
  return ids;
}

using Cores = std::vector<int>;

class PhoneTest : public ::testing::Test {
 protected:
  // Four little, three big, one prime core.
  void SetUp() override {
    device_.SetFrequencies({1804800, 1804800, 1804800, 1804800, 2419200,
                            2419200, 2419200, 2841600});
    const Cores mask = Mask(8);
    topology_ = CpuTopology::Read(device_.root(), &mask);
  }
  FakeDevice device_;
  CpuTopology topology_;
};

TEST_F(PhoneTest, TellsBigFromLittle) {
  EXPECT_EQ(topology_.BigCores(), (Cores{7, 4, 5, 6}));
  EXPECT_EQ(topology_.LittleCores(), (Cores{0, 1, 2, 3}));
}

TEST_F(PhoneTest, PoliciesSelectCores) {
  const auto place = [this](int threads, CPUAffinityPolicy policy) {
    return PlaceThreads(topology_, threads, policy);
  };
  EXPECT_EQ(place(-1, AFFINITY_NONE).threads, 8);
  EXPECT_EQ(place(3, AFFINITY_NONE).threads, 3);
  EXPECT_TRUE(place(3, AFFINITY_NONE).cores.empty());
  EXPECT_EQ(place(-1, AFFINITY_BIG_ONLY).threads, 4);
  EXPECT_EQ(place(8, AFFINITY_BIG_ONLY).threads, 4);
  EXPECT_EQ(place(2, AFFINITY_BIG_ONLY).threads, 2);
  EXPECT_EQ(place(2, AFFINITY_BIG_ONLY).cores, (Cores{7, 4, 5, 6}));
  EXPECT_EQ(place(0, AFFINITY_LITTLE_ONLY).cores, (Cores{0, 1, 2, 3}));
  EXPECT_EQ(place(2, AFFINITY_HIGH_PERFORMANCE).cores, (Cores{7, 4}));
  EXPECT_EQ(place(-1, AFFINITY_HIGH_PERFORMANCE).threads, 4);
  EXPECT_EQ(place(6, AFFINITY_HIGH_PERFORMANCE).threads, 6);
  EXPECT_EQ(place(1, AFFINITY_POWER_SAVE).cores, (Cores{3}));
  EXPECT_EQ(place(100, AFFINITY_POWER_SAVE).threads, 8);
}

TEST_F(PhoneTest, KeepsToTheAffinityMask) {
  const Cores mask = {2, 3, 6};
  const CpuTopology part = CpuTopology::Read(device_.root(), &mask);
  EXPECT_EQ(part.BigCores(), (Cores{6}));
  EXPECT_EQ(part.LittleCores(), (Cores{2, 3}));
  EXPECT_EQ(PlaceThreads(part, -1, AFFINITY_NONE).threads, 3);
}

TEST(CpuTopologyTest, EqualCoresAreBothBigAndLittle) {
  FakeDevice device;
  // Two turbo bins of one desktop processor.
  device.SetFrequencies({5100000, 5200000, 5100000, 5100000});
  const Cores mask = Mask(4);
  const CpuTopology topology = CpuTopology::Read(device.root(), &mask);
  EXPECT_EQ(topology.BigCores().size(), 4u);
  EXPECT_EQ(topology.LittleCores().size(), 4u);
}

TEST(CpuTopologyTest, UsesCapacityWhereThereIsNoFrequency) {
  FakeDevice device;
  for (int i = 0; i < 4; ++i) {
    device.Write(
        "sys/devices/system/cpu/cpu" + std::to_string(i) + "/cpu_capacity",
        i < 2 ? "446" : "1024");
  }
  const Cores mask = Mask(4);
  const CpuTopology topology = CpuTopology::Read(device.root(), &mask);
  EXPECT_EQ(topology.BigCores(), (Cores{2, 3}));
}

TEST(CpuTopologyTest, WorksWithoutAnyFigure) {
  FakeDevice device;
  const Cores mask = Mask(2);
  const CpuTopology topology = CpuTopology::Read(device.root(), &mask);
  EXPECT_EQ(topology.BigCores().size(), 2u);
  EXPECT_EQ(topology.quota, INT_MAX);
  EXPECT_EQ(PlaceThreads(topology, -1, AFFINITY_LITTLE_ONLY).threads, 2);
}

TEST(CpuTopologyTest, RespectsTheQuotaOfControlGroupVersion2) {
  FakeDevice device;
  device.Write("proc/self/cgroup", "0::/user/app\n");
  device.Write("sys/fs/cgroup/user/app/cpu.max", "max 100000\n");
  device.Write("sys/fs/cgroup/user/cpu.max", "250000 100000\n");
  const Cores mask = Mask(8);
  const CpuTopology topology = CpuTopology::Read(device.root(), &mask);
  EXPECT_EQ(topology.quota, 3);
  EXPECT_EQ(PlaceThreads(topology, -1, AFFINITY_NONE).threads, 3);
  EXPECT_EQ(PlaceThreads(topology, 2, AFFINITY_NONE).threads, 2);
  EXPECT_EQ(PlaceThreads(topology, 8, AFFINITY_BIG_ONLY).threads, 3);
}

TEST(CpuTopologyTest, RespectsTheQuotaOfControlGroupVersion1) {
  FakeDevice device;
  device.Write("proc/self/cgroup", "5:memory:/x\n3:cpu,cpuacct:/app\n");
  device.Write("sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "20000\n");
  device.Write("sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
  const Cores mask = Mask(8);
  EXPECT_EQ(CpuTopology::Read(device.root(), &mask).quota, 1);
}

TEST(CpuTopologyTest, ReadsThisMachine) {
  const CpuTopology topology = CpuTopology::Read();
  EXPECT_GE(topology.cores.size(), 1u);
  EXPECT_GE(PlaceThreads(topology, -1, AFFINITY_BIG_ONLY).threads, 1);
}

TEST(CpuTopologyTest, PrintsCoreLists) {
  EXPECT_EQ(CoreListToString({7, 4, 5, 6, 1}), "1,4-7");
  EXPECT_EQ(CoreListToString({0}), "0");
  EXPECT_EQ(CoreListToString({}), "");
}

TEST(PlaceThreadsHereTest, IsThePlacementOnThisMachine) {
  const CpuTopology topology = CpuTopology::Read();
  for (int threads : {0, 1, 2}) {
    for (CPUAffinityPolicy policy : {AFFINITY_NONE, AFFINITY_BIG_ONLY}) {
      const ThreadPlacement here = PlaceThreadsHere(threads, policy);
      const ThreadPlacement there = PlaceThreads(topology, threads, policy);
      EXPECT_EQ(here.threads, there.threads) << threads << " " << policy;
      EXPECT_EQ(here.cores, there.cores) << threads << " " << policy;
    }
  }
}

}  // namespace
}  // namespace mace
