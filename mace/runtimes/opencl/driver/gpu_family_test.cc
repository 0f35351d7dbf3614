// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/gpu_family.h"

#include <gtest/gtest.h>

namespace mace {
namespace {

GpuFamilyFacts Facts(const std::string &text, bool is_cpu = false) {
  return FactsOf(GpuFamilyOf(text, is_cpu), text);
}

TEST(GpuFamily, IsFoundByTheNamesThatDriversGive) {
  EXPECT_EQ(GpuFamilyOf("QUALCOMM QUALCOMM Adreno(TM) OpenCL 2.0", false),
            GpuFamily::kAdreno);
  EXPECT_EQ(GpuFamilyOf("ARM Mali-G72 OpenCL 2.0", false), GpuFamily::kMali);
  EXPECT_EQ(GpuFamilyOf("NVIDIA Corporation NVIDIA H100", false),
            GpuFamily::kNvidia);
  EXPECT_EQ(GpuFamilyOf("AuthenticAMD pthread-AMD EPYC", true),
            GpuFamily::kCpu);
  EXPECT_EQ(GpuFamilyOf("Somebody's GPU", false), GpuFamily::kOther);
}

TEST(GpuFamily, FlushesWhereTheDriverNeedsIt) {
  EXPECT_EQ(Facts("QUALCOMM Adreno(TM) OpenCL 2.0 Adreno(TM) 630").flush_period,
            16u);
  EXPECT_EQ(Facts("QUALCOMM Adreno(TM) OpenCL 3.0 Adreno(TM) 740").flush_period,
            0u);
  EXPECT_EQ(Facts("ARM Mali-G710 r0p0 OpenCL 3.0").flush_period, 24u);
  EXPECT_EQ(Facts("Imagination Technologies PowerVR Rogue GE8320").flush_period,
            4u);
  EXPECT_EQ(Facts("Imagination Technologies PowerVR B-Series").flush_period,
            16u);
  EXPECT_EQ(Facts("NVIDIA Corporation NVIDIA H100").flush_period, 0u);
}

TEST(GpuFamily, KnowsTheLimitsOfGrids) {
  EXPECT_EQ(Facts("NVIDIA Corporation NVIDIA H100").max_groups[1], 65535u);
  EXPECT_EQ(Facts("ARM Mali-G710 r0p0 OpenCL 3.0").max_groups[1], SIZE_MAX);
}

TEST(GpuFamily, ReplaysOnGpusOnly) {
  EXPECT_TRUE(Facts("NVIDIA Corporation NVIDIA H100").replay);
  EXPECT_FALSE(Facts("AuthenticAMD pthread-AMD EPYC", true).replay);
}

TEST(GpuFamily, OldMalisHaveNoImagesOfBuffers) {
  for (const char *name : {"ARM Mali-T880", "ARM Mali-G52 r1p0", "Mali-G72"}) {
    EXPECT_FALSE(Facts(name).image_views) << name;
  }
  for (const char *name : {"ARM Mali-G57", "Mali-G78", "Mali-G610 r0p0",
                           "QUALCOMM Adreno(TM)", "PowerVR Rogue GE8320"}) {
    EXPECT_TRUE(Facts(name).image_views) << name;
  }
}

}  // namespace
}  // namespace mace
