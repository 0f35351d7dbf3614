// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/peak/peak.h"

#include <gtest/gtest.h>

#include <vector>

namespace mace::peak {
namespace {

std::vector<CpuIsa> Isas() {
  std::vector<CpuIsa> isas;
#define MACE_PEAK_ADD(name) \
  if (CpuSupports(CpuIsa::name)) isas.push_back(CpuIsa::name);
  MACE_FOR_EACH_ISA(MACE_PEAK_ADD)
#undef MACE_PEAK_ADD
  return isas;
}

TEST(PeakTest, NoneHasNoKernels) {
  EXPECT_EQ(nullptr, KernelsFor(CpuIsa::kNone));
}

// Each chain converges to y / (1 - x) = 1.5, so the sum counts the chains:
// none was dropped by the compiler, and none is counted that did not run.
TEST(PeakTest, EveryCountedMultiplyAddRuns) {
  constexpr int kUnroll = 8;
  for (CpuIsa isa : Isas()) {
    const Kernels *kernels = KernelsFor(isa);
    ASSERT_NE(nullptr, kernels) << CpuIsaName(isa);
    const double lanes_and_chains =
        static_cast<double>(kernels->multiply_adds_per_round) / kUnroll;
    EXPECT_FLOAT_EQ(1.5f * static_cast<float>(lanes_and_chains),
                    kernels->multiply_add(100))
        << CpuIsaName(isa);
  }
}

TEST(PeakTest, TriadComputesEveryElement) {
  for (CpuIsa isa : Isas()) {
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
