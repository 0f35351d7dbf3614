// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace {
namespace {

TEST(CpuIsa, BestIsSupportedAndNothingAboveIt) {
  const CpuIsa best = BestCpuIsa();
  ASSERT_NE(best, CpuIsa::kNone);
  EXPECT_TRUE(CpuSupports(best));
  for (CpuIsa isa : RunnableIsasAndExtensions()) {
    EXPECT_LE(static_cast<int>(isa), static_cast<int>(best));
  }
  EXPECT_FALSE(CpuSupports(CpuIsa::kNone));
}

TEST(CpuIsa, NoRequestGivesTheBest) {
  for (const char *text : {static_cast<const char *>(nullptr), ""}) {
    const CpuIsaChoice choice = ChooseCpuIsa(text);
    EXPECT_EQ(choice.isa, BestCpuIsa());
    EXPECT_EQ(choice.request, CpuIsaRequest::kNothing);
  }
}

TEST(CpuIsa, EveryNameIsGrantedOrUnsupported){
#define MACE_ISA_CHECK(name, base)                                          \
  {                                                                         \
    const CpuIsaChoice choice = ChooseCpuIsa(#name);                        \
    const bool can = CpuSupports(CpuIsa::name);                             \
    EXPECT_EQ(choice.isa, can ? CpuIsa::name : BestCpuIsa());               \
    EXPECT_EQ(choice.request,                                               \
              can ? CpuIsaRequest::kGranted : CpuIsaRequest::kUnsupported); \
    EXPECT_STREQ(CpuIsaName(CpuIsa::name), #name);                          \
    EXPECT_NE(std::string(kCpuIsaNames).find(#name), std::string::npos);    \
  }
    MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_CHECK)
#undef MACE_ISA_CHECK
}

TEST(CpuIsa, UnknownNameFallsBack) {
  const CpuIsaChoice choice = ChooseCpuIsa("avx3");
  EXPECT_EQ(choice.isa, BestCpuIsa());
  EXPECT_EQ(choice.request, CpuIsaRequest::kUnknown);
}

TEST(CpuIsa, EnvironmentVariable) {
  const std::string name = CpuIsaName(RunnableIsas().front());
  ASSERT_EQ(setenv("MACE_CPU_ISA", name.c_str(), 1), 0);
  EXPECT_EQ(ChooseCpuIsaFromEnv().isa, RunnableIsas().front());
  EXPECT_EQ(ChooseCpuIsaFromEnv().request, CpuIsaRequest::kGranted);
  ASSERT_EQ(unsetenv("MACE_CPU_ISA"), 0);
  EXPECT_EQ(ChooseCpuIsaFromEnv().request, CpuIsaRequest::kNothing);
}

// One test per name, so that the list of skipped tests shows which kernels no
// test has run.
#define MACE_ISA_TEST(name, base)                                   \
  TEST(InstructionSet, name) {                                      \
    if (!CpuSupports(CpuIsa::name)) {                               \
      GTEST_SKIP() << "this CPU has no " #name;                     \
    }                                                               \
    const std::vector<CpuIsa> run = RunnableIsasAndExtensions();    \
    EXPECT_EQ(std::count(run.begin(), run.end(), CpuIsa::name), 1); \
    EXPECT_TRUE(CpuSupports(CpuIsa::base));                         \
  }
MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_TEST)
#undef MACE_ISA_TEST

}  // namespace
}  // namespace mace
