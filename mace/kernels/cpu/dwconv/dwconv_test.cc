// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/dwconv.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/dwconv/dwconv_testing.h"

namespace mace::dwconv {
namespace {

void CheckType(const Case &c, uint32_t seed) {
  Random random(seed);
  const Data d = MakeData(c, &random);
  const Shape &s = c.shape;
  const ptrdiff_t pixels = s.batch * s.out_h * s.out_w;
  const ptrdiff_t out_c = s.out_c;
  const ptrdiff_t stride = out_c + c.extra_stride;
  for (CpuIsa isa : IsasFor(c)) {
    SCOPED_TRACE(Describe(c, isa, random.seed()));
    const std::vector<float> got = RunAll(c, d, isa);
    for (ptrdiff_t pixel = 0; pixel < pixels; ++pixel) {
      for (ptrdiff_t o = 0; o < stride; ++o) {
        const float x = got[Size(pixel * stride + o)];
        if (o >= out_c) {
          ASSERT_EQ(x, Rounded(c.stored, kGuard))
              << "written beyond pixel " << pixel;
          continue;
        }
        const Expected e = Reference(c, d, pixel, o);
        ASSERT_TRUE(Near(x, e.value, e.bound))
            << "pixel " << pixel << " channel " << o << ": " << x
            << " instead of " << e.value << " +- " << e.bound;
      }
    }
  }
}

void Check(Case c, uint32_t seed) {
  for (Stored stored : kAllStored) {
    c.stored = stored;
    CheckType(c, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(DwConv, EveryWidthAndChannelTail) {
  uint32_t seed = 1;
  for (ptrdiff_t size = 1; size <= 21; ++size) {
    for (ptrdiff_t channels : {1, 3, 4, 7, 16, 19, 40}) {
      for (ptrdiff_t stride : {1, 2}) {
        Case c;
        c.shape = Square(size, channels, 3, stride, 1);
        c.clamp = seed % 2 == 0;
        c.extra_stride = seed % 3 == 0 ? 5 : 0;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(DwConv, KernelSizes) {
  uint32_t seed = 500;
  for (ptrdiff_t kernel : {1, 2, 3, 4, 5, 7}) {
    for (ptrdiff_t stride : {1, 2, 3}) {
      for (ptrdiff_t pad : {0, 1, 3}) {
        for (WeightType type :
             {WeightType::kF32, WeightType::kF16, WeightType::kBf16}) {
          Case c;
          c.shape = Square(13, 21, kernel, stride, pad);
          c.type = type;
          c.bias = seed % 4 != 0;
          Check(c, seed++);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(DwConv, RandomGeometry) {
  Random random(3);
  for (uint32_t i = 0; i < 300; ++i) {
    Case c;
    Shape &s = c.shape;
    s.batch = random.Int(1, 2);
    s.in_h = random.Int(1, 14);
    s.in_w = random.Int(1, 14);
    s.in_c = s.groups = random.Int(1, 40);
    s.out_c = s.groups * (random.Int(0, 3) == 0 ? random.Int(2, 19) : 1);
    s.kernel_h = random.Int(1, 5);
    s.kernel_w = random.Int(1, 5);
    s.stride_h = random.Int(1, 3);
    s.stride_w = random.Int(1, 3);
    s.dilation_h = random.Int(1, 3);
    s.dilation_w = random.Int(0, 2) == 0 ? 2 : 1;
    s.pad_top = random.Int(0, 4);
    s.pad_left = random.Int(0, 4);
    const ptrdiff_t full_h =
        s.in_h + s.pad_top + random.Int(0, 4) - (s.kernel_h - 1) * s.dilation_h;
    const ptrdiff_t full_w = s.in_w + s.pad_left + random.Int(0, 4) -
                             (s.kernel_w - 1) * s.dilation_w;
    if (full_h < 1 || full_w < 1) continue;
    s.out_h = (full_h - 1) / s.stride_h + 1;
    s.out_w = (full_w - 1) / s.stride_w + 1;
    if (s.dilation_w == 1 && random.Int(0, 1) == 0) {
      const ptrdiff_t multiplier = Multiplier(s);
      const ptrdiff_t depth = random.Int(2, 6);
      s.groups = random.Int(1, 12);
      SetGroup(depth, multiplier, &s);
    }
    c.type = static_cast<WeightType>(random.Int(0, 2));
    c.bias = random.Int(0, 3) != 0;
    c.clamp = random.Int(0, 1) == 0;
    c.extra_stride = random.Int(0, 1) * 3;
    c.row_part = random.Int(1, 5);
    c.group_part = random.Int(0, 1) == 0 ? 1000 : random.Int(1, 24);
    Check(c, 1000 + i);
    if (HasFatalFailure()) return;
  }
}

// If output pixels are 2 KiB apart, also in 16 bits, some kernels collect
// results.
TEST(DwConv, OutputsApartByManyChannels) {
  uint32_t seed = 2000;
  for (ptrdiff_t channels : {20, 64, 100, 512}) {
    for (ptrdiff_t size : {1, 7, 18}) {
      for (ptrdiff_t parts : {1, 2}) {
        Case c;
        c.shape = Square(size, channels, 3, 1, 1);
        c.shape.batch = 2;
        c.extra_stride = 1024 - channels;
        c.clamp = seed % 2 == 0;
        c.row_part = parts == 1 ? 1000 : 5;
        c.group_part = parts == 1 ? 1000 : 40;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Several bands of rows, and channel counts that have their own code.
TEST(DwConv, GroupsOfSeveral) {
  uint32_t seed = 3000;
  for (ptrdiff_t depth : {1, 2, 4}) {
    for (ptrdiff_t multiplier : {1, 2, 3, 4, 8, 17}) {
      for (ptrdiff_t stride : {1, 2}) {
        Case c;
        c.shape = Square(23, 6, 3, stride, 1);
        c.shape.in_w = 64;
        c.shape.out_w = (64 + 2 - 3) / stride + 1;
        SetGroup(depth, multiplier, &c.shape);
        c.clamp = true;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(DwConv, PartsDoNotChangeABit) {
  for (int kind = 0; kind < 9; ++kind) {
    Case c;
    c.shape = Square(15, 67, 3, 1, 1);
    if (kind / 3 == 1) SetGroup(1, 3, &c.shape);
    if (kind / 3 == 2) SetGroup(4, 2, &c.shape);
    c.stored = kAllStored[kind % 3];
    Random random(5);
    const Data d = MakeData(c, &random);
    for (CpuIsa isa : IsasFor(c)) {
      c.row_part = 1000;
      c.group_part = 1000;
      const std::vector<float> whole = RunAll(c, d, isa);
      for (ptrdiff_t part : {1, 2, 7}) {
        c.row_part = part;
        c.group_part = 16 * part;
        EXPECT_EQ(0, std::memcmp(whole.data(), RunAll(c, d, isa).data(),
                                 whole.size() * sizeof(float)))
            << CpuIsaName(isa);
      }
    }
  }
}

TEST(DwConv, NanSurvivesTheClamp) {
  for (Stored stored : kAllStored) {
    Case c;
    c.shape = Square(6, 20, 3, 1, 1);
    c.clamp = true;
    c.stored = stored;
    Random random(6);
    Data d = MakeData(c, &random);
    d.input[0] = std::numeric_limits<float>::quiet_NaN();
    if (stored != Stored::kFloat) d.half_input[0] = 0x7fc0;  // in both
    for (CpuIsa isa : IsasFor(c)) {
      const std::vector<float> out = RunAll(c, d, isa);
      EXPECT_TRUE(std::isnan(out[0])) << CpuIsaName(isa);
      EXPECT_FALSE(std::isnan(out[1])) << CpuIsaName(isa);
    }
  }
}

}  // namespace
}  // namespace mace::dwconv
