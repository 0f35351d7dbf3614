// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/peak/peak.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::peak {
namespace {

TEST(PeakTest, NoneHasNoKernels) {
  EXPECT_EQ(nullptr, KernelsFor(CpuIsa::kNone));
  EXPECT_EQ(nullptr, Int8KernelsFor(CpuIsa::kNone));
}

// The chains grow by exactly what was added, so the compiler removed none of
// them, and every counted multiply-add was executed.
TEST(PeakTest, EveryCountedMultiplyAddRuns) {
  constexpr int kUnroll = 8;
  constexpr int kRounds = 1000;
  const double grown = std::pow(1.0 + kPeakGrowth, kUnroll * kRounds);
  for (CpuIsa isa : RunnableIsas()) {
    const Kernels *kernels = KernelsFor(isa);
    ASSERT_NE(nullptr, kernels) << CpuIsaName(isa);
    EXPECT_EQ(0, kernels->multiply_adds_per_round % kUnroll);
    EXPECT_NEAR(grown, kernels->multiply_add(kRounds), 1e-3 * grown)
        << CpuIsaName(isa);
  }
}

TEST(PeakTest, EveryCountedInt8MultiplyAddRuns) {
  for (CpuIsa isa : RunnableIsas()) {
    const Int8Kernels *kernels = Int8KernelsFor(isa);
    ASSERT_NE(nullptr, kernels) << CpuIsaName(isa);
    EXPECT_EQ(0, kernels->multiply_add(0)) << CpuIsaName(isa);
    EXPECT_EQ(1000 * kernels->multiply_adds_per_round,
              kernels->multiply_add(1000))
        << CpuIsaName(isa);
  }
}

TEST(PeakTest, NoNumberOfRoundsEndsInNan) {
  for (CpuIsa isa : RunnableIsas()) {
    EXPECT_TRUE(std::isinf(KernelsFor(isa)->multiply_add(200 * 1000)))
        << CpuIsaName(isa);
  }
}

TEST(PeakTest, TriadComputesEveryElement) {
  for (CpuIsa isa : RunnableIsas()) {
    for (size_t n : {0, 1, 7, 16, 37, 64}) {
      std::vector<float> a(n, 1.0f);
      std::vector<float> b;
      for (size_t i = 0; i < n; ++i) b.push_back(static_cast<float>(i));
      std::vector<float> c(n + 1, -1.0f);
      KernelsFor(isa)->triad(a.data(), b.data(), 2.0f, c.data(), n);
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ(1.0f + 2.0f * static_cast<float>(i), c[i])
            << CpuIsaName(isa) << " n=" << n << " i=" << i;
      }
      EXPECT_EQ(-1.0f, c[n]) << "written beyond the end";
    }
  }
}

}  // namespace
}  // namespace mace::peak
