// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/pair_groups.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/dwconv/dwconv_testing.h"

namespace mace::dwconv {
namespace {

// Groups of `depth` channels and `multiplier` outputs.
Case MakeCase(ptrdiff_t size,
              ptrdiff_t groups,
              ptrdiff_t depth,
              ptrdiff_t multiplier,
              ptrdiff_t stride) {
  Case c;
  c.shape = Square(size, groups, 3, stride, 1);
  SetGroup(depth, multiplier, &c.shape);
  c.stored = Stored::kBf16;
  c.type = WeightType::kBf16;
  return c;
}

// The filter as it is in a model: [groups][panels][9][pairs][16][2].
std::vector<uint16_t> Pack(const Case &c, const Data &d) {
  const Shape &s = c.shape;
  const ptrdiff_t depth = Depth(s);
  const ptrdiff_t outputs = Multiplier(s);
  const ptrdiff_t panels = (outputs + kPairLanes - 1) / kPairLanes;
  std::vector<uint16_t> packed(Size(s.groups * panels * 9 * depth * kPairLanes),
                               0);
  for (ptrdiff_t tap = 0; tap < 9; ++tap) {
    for (ptrdiff_t k = 0; k < depth; ++k) {
      for (ptrdiff_t o = 0; o < s.out_c; ++o) {
        const ptrdiff_t column = o % outputs;
        const ptrdiff_t panel = o / outputs * panels + column / kPairLanes;
        const ptrdiff_t pair = (panel * 9 + tap) * depth / 2 + k / 2;
        packed[Size((pair * kPairLanes + column % kPairLanes) * 2 + k % 2)] =
            d.halves[Size((tap * depth + k) * s.out_c + o)];
      }
    }
  }
  return packed;
}

// The ISAs of this machine with kernels.
std::vector<CpuIsa> Isas() {
  std::vector<CpuIsa> isas;
  for (CpuIsa isa : RunnableIsasAndExtensions()) {
    if (PairGroupKernelsFor(isa) != nullptr) isas.push_back(isa);
  }
  return isas;
}

std::vector<float> RunParts(const Case &c, const Data &d, CpuIsa isa) {
  const Shape &s = c.shape;
  const std::vector<uint16_t> packed = Pack(c, d);
  std::vector<uint16_t> filter(PairFilterBytes(s) / sizeof(uint16_t));
  LayOutPairs(s, packed.data(), filter.data());
  const ptrdiff_t rows = s.batch * s.out_h;
  const ptrdiff_t stride = s.out_c + c.extra_stride;
  std::vector<uint16_t> out(Size(rows * s.out_w * stride), ToBf16(kGuard));
  Args args;
  args.shape = s;
  args.input = d.half_input.data();
  args.filter = filter.data();
  args.type = WeightType::kBf16Pairs;
  args.output = out.data();
  args.output_stride = stride;
  args.epilogue.bias = c.bias ? d.bias.data() : nullptr;
  args.epilogue.clamp = c.clamp;
  args.epilogue.low = kLow;
  args.epilogue.high = kHigh;
  for (ptrdiff_t row = 0; row < rows; row += c.row_part) {
    for (ptrdiff_t group = 0; group < s.groups; group += c.group_part) {
      PairGroupKernelsFor(isa)->run(
          args,
          {row, std::min(rows, row + c.row_part), group,
           std::min(s.groups, group + c.group_part)},
          nullptr);
    }
  }
  std::vector<float> floats;
  for (const uint16_t x : out) floats.push_back(FromBf16(x));
  return floats;
}

void Check(const Case &c, uint32_t seed) {
  ASSERT_TRUE(FitsPairGroups(c.shape)) << Describe(c, CpuIsa::kNone, seed);
  Random random(seed);
  const Data d = MakeData(c, &random);
  const Shape &s = c.shape;
  const ptrdiff_t stride = s.out_c + c.extra_stride;
  for (CpuIsa isa : Isas()) {
    SCOPED_TRACE(Describe(c, isa, random.seed()));
    const std::vector<float> got = RunParts(c, d, isa);
    for (ptrdiff_t pixel = 0; pixel < s.batch * s.out_h * s.out_w; ++pixel) {
      for (ptrdiff_t o = 0; o < stride; ++o) {
        const float x = got[Size(pixel * stride + o)];
        if (o >= s.out_c) {
          ASSERT_EQ(x, FromBf16(ToBf16(kGuard)))
              << "written beyond pixel " << pixel;
          continue;
        }
        const Expected e = Reference(c, d, pixel, o);
        ASSERT_TRUE(Near(x, e.value, e.bound))
            << "pixel " << pixel << " output " << o << ": " << x
            << " instead of " << e.value << " +- " << e.bound;
      }
    }
  }
}

struct Group {
  ptrdiff_t count;
  ptrdiff_t depth;
  ptrdiff_t multiplier;
};

// Whole vectors and an overlapping last one, of several groups and of one.
constexpr Group kKinds[] = {{8, 2, 2},   {11, 2, 2}, {4, 4, 4},   {7, 4, 4},
                            {2, 8, 8},   {5, 8, 8},  {3, 16, 16}, {2, 32, 32},
                            {2, 24, 24}, {2, 6, 17}, {3, 2, 16}};

// With stride 2, products are faster for these.
bool IsProduct(const Group &kind, ptrdiff_t stride) {
  return stride == 2 && kind.multiplier > 16;
}

TEST(PairGroups, EveryWidthAndKind) {
  uint32_t seed = 1;
  for (ptrdiff_t size = 1; size <= 18; ++size) {
    for (const Group &kind : kKinds) {
      for (ptrdiff_t stride : {1, 2}) {
        if (IsProduct(kind, stride)) continue;
        Case c =
            MakeCase(size, kind.count, kind.depth, kind.multiplier, stride);
        c.clamp = seed % 2 == 0;
        c.extra_stride = seed % 3 == 0 ? 5 : 0;
        c.bias = seed % 5 != 0;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(PairGroups, RandomGeometry) {
  Random random(2);
  for (uint32_t i = 0; i < 200; ++i) {
    const Group &kind = kKinds[random.Int(0, std::size(kKinds) - 1)];
    const ptrdiff_t stride = IsProduct(kind, 2) ? 1 : random.Int(1, 2);
    Case c = MakeCase(random.Int(1, 19), kind.count, kind.depth,
                      kind.multiplier, stride);
    Shape &s = c.shape;
    s.batch = random.Int(1, 2);
    s.in_h = random.Int(1, 19);
    s.pad_top = random.Int(0, 3);
    s.pad_left = random.Int(0, 1);
    const ptrdiff_t full_h = s.in_h + s.pad_top + random.Int(0, 3) - 2;
    const ptrdiff_t full_w = s.in_w + s.pad_left + random.Int(0, 1) - 2;
    if (full_h < 1 || full_w < 1) continue;
    s.out_h = (full_h - 1) / stride + 1;
    s.out_w = (full_w - 1) / stride + 1;
    c.clamp = random.Int(0, 1) == 0;
    c.row_part = random.Int(1, 12);
    // Vectors begin with these groups.
    c.group_part = kind.multiplier < 16 ? 16 / kind.multiplier : 1;
    Check(c, 1000 + i);
    if (HasFatalFailure()) return;
  }
}

TEST(PairGroups, PartsDoNotChangeABit) {
  for (const Group &kind : kKinds) {
    for (ptrdiff_t stride : {1, 2}) {
      if (IsProduct(kind, stride)) continue;
      Case c = MakeCase(21, kind.count, kind.depth, kind.multiplier, stride);
      Random random(3);
      const Data d = MakeData(c, &random);
      for (CpuIsa isa : Isas()) {
        c.row_part = c.group_part = 1000;
        const std::vector<float> whole = RunParts(c, d, isa);
        for (ptrdiff_t part : {1, 2, 9}) {
          c.row_part = part;
          c.group_part = kind.multiplier < 16 ? 16 / kind.multiplier : 1;
          EXPECT_EQ(0, std::memcmp(whole.data(), RunParts(c, d, isa).data(),
                                   whole.size() * sizeof(float)))
              << Describe(c, isa, random.seed());
        }
      }
    }
  }
}

TEST(PairGroups, NanStaysInItsGroup) {
  for (const Group &kind : kKinds) {
    Case c = MakeCase(6, kind.count, kind.depth, kind.multiplier, 1);
    c.clamp = true;
    Random random(4);
    Data d = MakeData(c, &random);
    d.half_input[0] = 0x7fc0;
    for (CpuIsa isa : Isas()) {
      const std::vector<float> out = RunParts(c, d, isa);
      for (ptrdiff_t o = 0; o < c.shape.out_c; ++o) {
        EXPECT_EQ(std::isnan(out[Size(o)]), o < kind.multiplier)
            << o << ": " << Describe(c, isa, random.seed());
      }
    }
  }
}

TEST(PairGroups, Others) {
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 8, 3, 4, 1).shape));
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 8, 8, 4, 1).shape));
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 8, 6, 6, 1).shape));
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 1, 16, 16, 1).shape));
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 1, 8, 8, 1).shape));
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 2, 64, 32, 1).shape));
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 2, 32, 64, 1).shape));
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 2, 32, 32, 2).shape));
  EXPECT_FALSE(FitsPairGroups(MakeCase(9, 4, 4, 4, 3).shape));
  Case padded = MakeCase(9, 4, 4, 4, 1);
  padded.shape.pad_left = 2;
  EXPECT_FALSE(FitsPairGroups(padded.shape));
  Case dilated = MakeCase(9, 4, 4, 4, 1);
  dilated.shape.dilation_w = 2;
  EXPECT_FALSE(FitsPairGroups(dilated.shape));
}

}  // namespace
}  // namespace mace::dwconv
