// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares Winograd convolutions with the definition in double precision, on
// every ISA of this machine.

#include "mace/kernels/cpu/winograd/conv_winograd.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/winograd/conv_winograd_testing.h"

namespace mace::winograd {
namespace {

constexpr gemm::Element kImages[] = {gemm::Element::kF32, gemm::Element::kF16,
                                     gemm::Element::kBf16};

void CheckType(const Case &c, uint32_t seed) {
  Random random(seed);
  const Data d = MakeData(c, &random);
  const Expected e = Reference(c, d);
  const size_t out_c = Size(c.shape.out_c);
  const size_t stride = out_c + c.extra_stride;
  for (CpuIsa isa : IsasFor(c)) {
    SCOPED_TRACE(Describe(c, isa, random.seed()));
    const std::vector<float> got = RunAll(c, d, isa);
    Case other = c;
    other.each_run = !c.each_run;
    ASSERT_EQ(0, std::memcmp(got.data(), RunAll(other, d, isa).data(),
                             got.size() * sizeof(float)))
        << "depends on when the filter is transformed";
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t o = i % stride;
      if (o >= out_c) {
        ASSERT_EQ(got[i], Stored(c.image, kGuard))
            << "written beyond pixel " << i / stride;
        continue;
      }
      const size_t at = i / stride * out_c + o;
      ASSERT_TRUE(Near(got[i], e.value[at], e.bound[at]))
          << "pixel " << i / stride << " channel " << o << ": " << got[i]
          << " instead of " << e.value[at] << " +- " << e.bound[at];
    }
  }
}

void Check(Case c, uint32_t seed) {
  for (gemm::Element image : kImages) {
    c.image = image;
    CheckType(c, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ConvWinograd, EverySizeOfImage) {
  uint32_t seed = 1;
  for (int tile : {2, 4}) {
    for (ptrdiff_t size = 1; size <= 10; ++size) {
      Case c = MakeCase(tile, size, 11 - size, 5, 18, 1);
      c.clamp = seed % 2 == 0;
      Check(c, seed++);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ConvWinograd, ChannelTails) {
  uint32_t seed = 100;
  for (int tile : {2, 4}) {
    for (ptrdiff_t in_c : {1, 3, 4, 17, 24}) {
      for (ptrdiff_t out_c : {1, 7, 16, 70}) {
        Case c = MakeCase(tile, 6, 5, in_c, out_c, 1);
        c.residual = seed % 2 == 0;
        c.bias = seed % 3 != 0;
        c.extra_stride = seed % 3 == 0 ? 5 : 0;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ConvWinograd, RandomGeometry) {
  Random random(3);
  for (uint32_t i = 0; i < 40; ++i) {
    Case c = MakeCase(i % 2 == 0 ? 2 : 4, random.Int(1, 13), random.Int(1, 13),
                      random.Int(1, 20), random.Int(1, 40), 0);
    conv::Shape &s = c.shape;
    s.batch = random.Int(1, 2);
    s.pad_top = random.Int(0, 3);
    s.pad_left = random.Int(0, 3);
    s.out_h = s.in_h + s.pad_top + random.Int(0, 3) - 2;
    s.out_w = s.in_w + s.pad_left + random.Int(0, 3) - 2;
    if (s.out_h < 1 || s.out_w < 1) continue;
    constexpr gemm::WeightType kTypes[] = {
        gemm::WeightType::kF32, gemm::WeightType::kF16, gemm::WeightType::kBf16,
        gemm::WeightType::kBf16Pairs, gemm::WeightType::kI8};
    c.type = kTypes[random.Int(0, 4)];
    c.bias = random.Int(0, 3) != 0;
    c.residual = random.Int(0, 1) == 0;
    c.clamp = random.Int(0, 1) == 0;
    c.extra_stride = Size(random.Int(0, 1) * 3);
    c.threads = static_cast<int>(random.Int(1, 4));
    Check(c, 1000 + i);
    if (HasFatalFailure()) return;
  }
}

// Also dilations larger than the image, whose last phases are empty.
TEST(ConvWinograd, Dilations) {
  Random random(7);
  uint32_t seed = 400;
  for (int tile : {2, 4}) {
    for (ptrdiff_t rows : {1, 2, 4, 12}) {
      for (ptrdiff_t columns : {1, 2, 5}) {
        Case c = MakeCase(tile, random.Int(3, 11), random.Int(3, 11),
                          random.Int(1, 20), random.Int(1, 40), 0);
        conv::Shape &s = c.shape;
        s.batch = random.Int(1, 2);
        s.dilation_h = rows;
        s.dilation_w = columns;
        s.pad_top = random.Int(rows / 2, rows);
        s.pad_left = columns;
        s.out_h = s.in_h + 2 * (s.pad_top - rows) + random.Int(0, 1);
        s.out_w = s.in_w + random.Int(0, 1);
        if (s.out_h < 1) s.out_h = 1;
        c.residual = random.Int(0, 1) == 0;
        c.clamp = random.Int(0, 1) == 0;
        c.extra_stride = Size(random.Int(0, 1) * 3);
        c.threads = static_cast<int>(random.Int(1, 4));
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The error as users see it: the largest error divided by the root mean square
// of the outputs, which is far below the worst-case bound above. Measured 6e-6
// and 1.2e-5 on a 28x28 layer of 128 channels; in fp16 0.011 and 0.049 on this
// layer.
TEST(ConvWinograd, TypicalError) {
  for (gemm::Element image : kImages) {
    for (int tile : {2, 4}) {
      Case c = MakeCase(tile, 8, 8, 128, 16, 1);
      c.image = image;
      Random random(4);
      const Data d = MakeData(c, &random);
      const Expected e = Reference(c, d);
      double square = 0;
      for (double v : e.value) square += v * v;
      const double rms =
          std::sqrt(square / static_cast<double>(e.value.size()));
      for (CpuIsa isa : IsasFor(c)) {
        const std::vector<float> got = RunAll(c, d, isa);
        double worst = 0;
        for (size_t i = 0; i < got.size(); ++i) {
          worst = std::max(worst, std::fabs(got[i] - e.value[i]));
        }
        const double most =
            image == gemm::Element::kF16    ? (tile == 2 ? 0.03 : 0.1)
            : image == gemm::Element::kBf16 ? 0.02
                                            : (tile == 2 ? 1e-5 : 2e-5);
        EXPECT_LT(worst / rms, most)
            << CpuIsaName(isa) << " tile " << tile << " seed " << random.seed();
      }
    }
  }
}

void CheckThreads(Case c, uint32_t seed) {
  Random random(seed);
  const Data d = MakeData(c, &random);
  const int panels = static_cast<int>(gemm::PanelCount(Size(c.shape.out_c)));
  for (CpuIsa isa : RunnableFloatIsas()) {
    c.image = gemm::Element::kF32;
    for (gemm::Element image : {gemm::Element::kF16, gemm::Element::kBf16}) {
      if (KernelsFor(isa, image) != nullptr) c.image = image;
    }
    c.threads = 1;
    const std::vector<float> one = RunAll(c, d, isa);
    for (int threads : {2, 3, 8}) {
      c.threads = threads;
      EXPECT_GE(MakePlan(c, isa).tasks, std::min({threads, 7, panels}));
      EXPECT_EQ(0, std::memcmp(one.data(), RunAll(c, d, isa).data(),
                               one.size() * sizeof(float)))
          << Describe(c, isa, random.seed());
    }
  }
}

TEST(ConvWinograd, ThreadsDoNotChangeABit) {
  for (int tile : {2, 4}) {
    for (ptrdiff_t size : {6, 29}) {  // split by columns, by tiles
      for (bool each_run : {false, true}) {
        Case c = MakeCase(tile, size, size, 19, 200, 1);
        c.each_run = each_run;
        CheckThreads(c, 5);
      }
    }
  }
}

// Filters so deep that a group has one or two panels, for all types of weights.
TEST(ConvWinograd, FiltersTransformedInEachRun) {
  uint32_t seed = 200;
  for (int tile : {2, 4}) {
    for (gemm::WeightType type :
         {gemm::WeightType::kF32, gemm::WeightType::kF16,
          gemm::WeightType::kBf16, gemm::WeightType::kBf16Pairs,
          gemm::WeightType::kI8}) {
      Case c = MakeCase(tile, 5, 5, tile == 2 ? 700 : 320, 70, 1);
      c.type = type;
      c.each_run = true;
      EXPECT_LT(MakePlan(c, RunnableIsas().front()).group_panels, 3);
      Random random(seed++);
      const Data d = MakeData(c, &random);
      Case before = c;
      before.each_run = false;
      for (gemm::Element image : kImages) {
        c.image = before.image = image;
        for (CpuIsa isa : IsasFor(c)) {
          EXPECT_EQ(RunAll(c, d, isa), RunAll(before, d, isa))
              << Describe(c, isa, random.seed());
        }
      }
      c.image = gemm::Element::kF32;
      if (type == gemm::WeightType::kF32) CheckThreads(c, seed);
    }
  }
}

// Two threads share the points of blocks that are too small to be divided in
// another way. How the filter of a type is read does not depend on the size of
// the image: the large one, with nine tenths of the work, is for one type only.
TEST(ConvWinograd, HalvesOfThePoints) {
  uint32_t seed = 300;
  for (int tile : {2, 4}) {
    for (ptrdiff_t size : {3, 7, 26}) {
      for (gemm::WeightType type :
           {gemm::WeightType::kF32, gemm::WeightType::kF16,
            gemm::WeightType::kBf16, gemm::WeightType::kBf16Pairs,
            gemm::WeightType::kI8}) {
        if (size == 26 && type != gemm::WeightType::kF32) continue;
        Case c = MakeCase(tile, size, size + 2, 70, 18 + size / 2, 1);
        c.type = type;
        c.each_run = true;
        c.threads = 2 + 2 * static_cast<int>(seed % 3);
        c.residual = seed % 2 == 0;
        c.clamp = seed % 4 != 0;
        c.extra_stride = seed % 3 == 0 ? 5 : 0;
        for (CpuIsa isa : IsasFor(c)) {
          const bool wide = KernelsFor(isa, gemm::Element::kF32)->lanes >= 8;
          EXPECT_EQ(MakePlan(c, isa).halves, wide && (tile == 4 || size < 26))
              << Describe(c, isa, seed);
        }
        Check(c, seed++);
        if (HasFatalFailure()) return;
        if (type == gemm::WeightType::kF32) CheckThreads(c, seed);
      }
    }
  }
}

void CheckRegions(const Case &c) {
  const conv::Shape &s = c.shape;
  for (CpuIsa isa : IsasFor(c)) {
    const ConvPlan plan = MakePlan(c, isa);
    std::vector<int> seen(Size(s.batch * s.out_h * s.out_w * s.out_c), 0);
    for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
      for (ptrdiff_t i = 0; i < Regions(plan, task); ++i) {
        const conv::Region r = RegionOf(plan, task, i);
        for (ptrdiff_t row = r.row_begin; row < r.row_end; ++row) {
          for (ptrdiff_t o = r.column_begin; o < r.column_end; ++o) {
            ++seen[Size(row * s.out_c + o)];
          }
        }
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1),
              static_cast<ptrdiff_t>(seen.size()))
        << Describe(c, isa, 0);
  }
}

// Every output is in exactly one region.
TEST(ConvWinograd, RegionsCoverTheOutput) {
  for (int tile : {2, 4}) {
    for (int threads : {1, 2, 7}) {
      Case c = MakeCase(tile, 27, 30, 8, 150, 1);
      c.each_run = threads == 2;
      c.shape.batch = 2;
      c.threads = threads;
      CheckRegions(c);
    }
    Case dilated = MakeCase(tile, 7, 18, 8, 40, 1);
    dilated.shape.batch = 2;
    dilated.shape.dilation_h = 3;
    dilated.shape.dilation_w = 2;
    dilated.threads = 3;
    CheckRegions(dilated);
    Case halves = MakeCase(tile, 5, 11, 64, 20, 1);
    halves.each_run = true;
    for (int threads : {2, 4, 8}) {
      halves.threads = threads;
      CheckRegions(halves);
    }
  }
}

TEST(ConvWinograd, NanSurvivesTheClamp) {
  for (int tile : {2, 4}) {
    Case c = MakeCase(tile, 10, 10, 20, 20, 1);
    c.clamp = true;
    Random random(6);
    Data d = MakeData(c, &random);
    d.input[0] = std::numeric_limits<float>::quiet_NaN();
    for (CpuIsa isa : RunnableIsas()) {
      const std::vector<float> out = RunAll(c, d, isa);
      EXPECT_TRUE(std::isnan(out[0])) << CpuIsaName(isa);
      EXPECT_FALSE(std::isnan(out.back())) << CpuIsaName(isa);
    }
  }
}

}  // namespace
}  // namespace mace::winograd
