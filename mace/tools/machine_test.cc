// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/machine.h"

#include <gtest/gtest.h>

#include <memory>

namespace mace {
namespace tools {
namespace {

TEST(MachineTest, SeesMemoryThatIsTouched) {
  constexpr size_t kBytes = size_t{64} << 20;
  const size_t before = ResidentBytes();
  ASSERT_GT(before, 0u);
  std::unique_ptr<char[]> block(new char[kBytes]);
  // volatile: a block that nobody reads would be optimised away.
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

}  // namespace
}  // namespace tools
}  // namespace mace
