// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace mace {
namespace tools {
namespace {

TEST(MachineTest, SeesMemoryThatIsTouched) {
  constexpr size_t kBytes = size_t{64} << 20;
  const size_t before = ResidentBytes();
  ASSERT_GT(before, 0u);
  std::unique_ptr<char[]> block(new char[kBytes]);
  // volatile: the compiler would remove an unused block.
  volatile char *bytes = block.get();
  for (size_t i = 0; i < kBytes; i += 1024) bytes[i] = 1;
  EXPECT_GE(ResidentBytes(), before + kBytes / 2);
  EXPECT_GE(PeakResidentBytes(), before + kBytes / 2);
}

TEST(MachineTest, ClockRuns) {
  const double begin = NowMs();
  while (NowMs() < begin + 1) {
  }
  EXPECT_GT(NowMs(), begin);
}

TEST(MachineTest, KnowsTheProcessor) {
  EXPECT_GE(UsableCores(), 1);
  EXPECT_NE("none", IsaName());
  EXPECT_GT(CapabilityMs(), 0);
}

TEST(MachineTest, MeasuringThePeakRaisesWhatIsKnown) {
  MachinePeak peak;
  peak.gflops = 1e9;
  const size_t before = PeakResidentBytes();
  ASSERT_EQ(MeasurePeak(1, PeakLoops::kInCache, &peak),
            MaceStatus::MACE_SUCCESS);
  // Much less than the arrays of 192 MiB that are streamed.
  EXPECT_LT(PeakResidentBytes(), before + (size_t{16} << 20));
  EXPECT_EQ(peak.gflops, 1e9);
  EXPECT_GT(peak.cache_gbytes_per_s, 0);
  EXPECT_EQ(peak.gbytes_per_s, 0);
  peak.gflops = 0;
  ASSERT_EQ(MeasurePeak(1, PeakLoops::kAll, &peak), MaceStatus::MACE_SUCCESS);
  EXPECT_GT(peak.gflops, 0);
  EXPECT_GT(peak.int8_gops, 0);
  EXPECT_GT(peak.gbytes_per_s, 0);
  EXPECT_EQ(peak.most_round_trip_ns, 0);
}

TEST(MachineTest, RoundTripsBetweenCoresWidenWhatIsKnown) {
  MachinePeak peak;
  ASSERT_EQ(MeasurePeak(2, PeakLoops::kInCache, &peak),
            MaceStatus::MACE_SUCCESS);
  if (UsableCores() == 1) {
    EXPECT_EQ(peak.most_round_trip_ns, 0);
    return;
  }
  EXPECT_GT(peak.least_round_trip_ns, 1);
  EXPECT_EQ(peak.least_round_trip_ns, peak.most_round_trip_ns);
  peak.least_round_trip_ns = 1;
  peak.most_round_trip_ns = 1e9;
  ASSERT_EQ(MeasurePeak(2, PeakLoops::kInCache, &peak),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(peak.least_round_trip_ns, 1);
  EXPECT_EQ(peak.most_round_trip_ns, 1e9);
}

// A file below the folder of a test, with its folders.
void WriteFile(const std::string &root,
               const std::string &name,
               const std::string &text) {
  const std::filesystem::path path = root + name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << "\n";
}

TEST(MachineTest, WatchesTheHottestSensorOfTheProcessor) {
  const std::string root = testing::TempDir() + "/sensors";
  const std::string zones = "/sys/class/thermal/thermal_zone";
  WriteFile(root, zones + "0/type", "battery");
  WriteFile(root, zones + "0/temp", "90000");
  WriteFile(root, zones + "1/type", "cpu-0-0-usr");
  WriteFile(root, zones + "1/temp", "41000");
  WriteFile(root, zones + "2/type", "cpu-1-1-usr");
  WriteFile(root, zones + "2/temp", "200000");  // off
  MachineWatch watch(root);
  WriteFile(root, zones + "1/temp", "78500");
  EXPECT_EQ(watch.Changes().most_celsius, 78.5);
  WriteFile(root, zones + "1/temp", "60000");
  const MachineChanges changes = watch.Changes();
  EXPECT_EQ(changes.first_celsius, 41);
  EXPECT_EQ(changes.last_celsius, 60);
  EXPECT_EQ(changes.most_celsius, 78.5);
  const MachineChanges none = MachineWatch(root + "/none").Changes();
  EXPECT_EQ(none.first_celsius, 0);
}

}  // namespace
}  // namespace tools
}  // namespace mace
