// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares convolutions, matrix products and vector products with sums in
// double precision, on every ISA of this machine.

#include "mace/kernels/cpu/conv/direct.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/conv/direct_testing.h"

namespace mace::conv {
namespace {

TEST(DirectConv, EveryRowCountAndColumnTail) {
  uint32_t seed = 1;
  for (ptrdiff_t rows = 1; rows <= 30; ++rows) {
    for (ptrdiff_t columns :
         {1, 7, 8, 15, 16, 17, 31, 33, 48, 63, 64, 80, 97}) {
      Case c;
      c.shape = MatrixShape(rows, 5 + rows % 4, columns);
      c.residual = rows % 2 == 0;
      c.clamp = rows % 3 == 0;
      c.extra_stride = rows % 5 == 0 ? 3 : 0;
      c.bias = rows % 7 != 0;
      Check(c, seed++);
      if (HasFailure()) return;
    }
  }
}

TEST(DirectConv, EveryRowCountAndColumnTailOfNarrowWeights) {
  constexpr WeightType kTypes[] = {WeightType::kBf16Pairs, WeightType::kF16,
                                   WeightType::kI8};
  uint32_t seed = 600;
  for (ptrdiff_t rows = 1; rows <= 30; ++rows) {
    for (ptrdiff_t columns : {1, 15, 16, 33, 48, 63, 80, 97}) {
      Case c;
      c.shape = MatrixShape(rows, 5 + rows % 13, columns);
      c.w_type = kTypes[seed % 3];
      c.residual = columns % 2 == 0;
      c.clamp = rows % 3 == 0;
      c.extra_stride = rows % 5 == 0 ? 3 : 0;
      Check(c, seed++);
      if (HasFailure()) return;
    }
  }
}

TEST(DirectConv, DepthAcrossKBlocks) {
  uint32_t seed = 100;
  for (ptrdiff_t depth :
       {1, 3, 34, 74, 144, 320, 512, 513, 600, 1026, 1537, 2601}) {
    for (WeightType type : kWeightTypes) {
      for (ptrdiff_t rows : {1, 9}) {
        Case c;
        c.shape = MatrixShape(rows, depth, 24);
        c.w_type = type;
        c.clamp = true;
        c.residual = true;
        Check(c, seed++);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(DirectConv, KernelsOfNetworks) {
  uint32_t seed = 200;
  std::vector<Shape> shapes = {
      Square(23, 3, 7, 2, 3, 64),   // ResNet's first layer
      Square(23, 3, 3, 2, 1, 32),   // MobileNet's first layer
      Square(31, 3, 11, 4, 2, 24),  // AlexNet's first layer
      Square(9, 64, 3, 1, 1, 64),  Square(9, 64, 3, 2, 1, 40),
      Square(7, 20, 5, 1, 2, 20),  Square(7, 128, 1, 2, 0, 96),
      Square(7, 70, 7, 1, 0, 50),   // the whole image: one row
      Square(5, 600, 3, 1, 1, 17),  // a tap longer than a K-block
      Square(1, 33, 3, 1, 1, 9),    // more padding than image
      Square(2, 3, 5, 1, 3, 9),
  };
  for (const Shape &shape : shapes) {
    for (WeightType type : kWeightTypes) {
      Case c;
      c.shape = shape;
      c.w_type = type;
      c.clamp = seed % 2 == 0;
      Check(c, seed++);
      if (HasFailure()) return;
    }
  }
}

TEST(DirectConv, TapsOutsideTheImage) {
  uint32_t seed = 250;
  std::vector<Shape> shapes = {
      Dilated(16, 70, 12, 40),      // some outputs read only some taps
      Dilated(8, 80, 8, 24),        // only one tap is inside the image
      Dilated(7, 530, 2, 17),       // a tap longer than a K-block
      Square(7, 128, 3, 1, 1, 33),  // a row of padding
      Square(3, 64, 2, 1, 5, 16),   // outputs without any input
  };
  shapes.push_back(shapes[0]);
  shapes.back().batch = 2;
  shapes.back().groups = 1;
  shapes.back().stride_h = 3;
  shapes.back().out_h = 6;
  for (const Shape &shape : shapes) {
    for (WeightType type : kWeightTypes) {
      Case c;
      c.shape = shape;
      c.w_type = type;
      c.residual = seed % 2 == 0;
      c.clamp = seed % 3 == 0;
      c.threads = 1 + static_cast<int>(seed % 3);
      Check(c, seed++);
      if (HasFailure()) return;
    }
  }
}

// Also with a bias of -0, which adding 0 would change.
TEST(DirectConv, SkippedTapsChangeNoBit) {
  constexpr TapSkipping kKinds[] = {TapSkipping::kRows, TapSkipping::kPixels};
  for (const Shape &shape :
       {Dilated(10, 66, 7, 40), Square(7, 128, 3, 1, 1, 30)}) {
    for (WeightType type : {WeightType::kF32, WeightType::kI8}) {
      Case c;
      c.shape = shape;
      c.w_type = type;
      c.residual = true;
      Random random(17);
      Data d = MakeData(c, &random);
      std::fill(d.bias.begin(), d.bias.end(), -0.0f);
      std::fill(d.residual.begin(), d.residual.end(), -0.0f);
      std::fill_n(d.input.begin(), d.input.size() / 2, 0.0f);
      for (CpuIsa isa : RunnableIsas()) {
        constexpr TapSkipping kNone = TapSkipping::kNone;
        c.skipping = &kNone;
        const std::vector<float> all = RunAll(c, d, isa);
        for (const TapSkipping &kind : kKinds) {
          c.skipping = &kind;
          EXPECT_EQ(0, std::memcmp(all.data(), RunAll(c, d, isa).data(),
                                   all.size() * sizeof(float)))
              << Describe(c, isa, random.seed());
        }
      }
    }
  }
}

// More rows than a group of tiles has, and all kinds of steps.
TEST(DirectConv, ManyTiles) {
  uint32_t seed = 300;
  std::vector<Shape> shapes = {
      MatrixShape(150, 144, 40),   MatrixShape(530, 46, 33),
      MatrixShape(67, 1400, 70),   Square(20, 38, 3, 1, 1, 40),
      Square(35, 16, 3, 2, 1, 18), Square(14, 96, 3, 1, 2, 48),
      Square(9, 80, 3, 1, 1, 24),   // steps of two lengths in many taps
      MatrixShape(40, 30, 300),     // more columns than the sums of a group
      MatrixShape(35, 2080, 130),   // more weights than stay in cache
      Square(19, 40, 1, 2, 0, 20),  // rows far apart: packed
  };
  for (const Shape &shape : shapes) {
    Case c;
    c.shape = shape;
    c.w_type = WeightType::kBf16Pairs;
    c.clamp = true;
    c.residual = true;
    c.threads = 1 + static_cast<int>(seed % 2);
    Check(c, seed++);
    if (HasFailure()) return;
  }
}

TEST(DirectConv, RandomGeometry) {
  Random random(7);
  for (uint32_t i = 0; i < 150; ++i) {
    Case c;
    Shape &s = c.shape;
    s.groups = random.Int(0, 3) == 0 ? random.Int(2, 4) : 1;
    s.batch = random.Int(1, 2);
    s.in_h = random.Int(1, 12);
    s.in_w = random.Int(1, 12);
    s.in_c = s.groups * random.Int(1, random.Int(0, 1) == 0 ? 6 : 40);
    s.out_c = s.groups * random.Int(1, 70);
    s.kernel_h = random.Int(1, 4);
    s.kernel_w = random.Int(1, 4);
    s.stride_h = random.Int(1, 3);
    s.stride_w = random.Int(1, 3);
    s.dilation_h = random.Int(1, 2);
    s.dilation_w = random.Int(0, 2) == 0 ? 2 : 1;
    s.pad_top = random.Int(0, 3);
    s.pad_left = random.Int(0, 3);
    const ptrdiff_t full_h =
        s.in_h + s.pad_top + random.Int(0, 3) - (s.kernel_h - 1) * s.dilation_h;
    const ptrdiff_t full_w = s.in_w + s.pad_left + random.Int(0, 3) -
                             (s.kernel_w - 1) * s.dilation_w;
    if (full_h < 1 || full_w < 1) continue;
    s.out_h = (full_h - 1) / s.stride_h + 1;
    s.out_w = (full_w - 1) / s.stride_w + 1;
    c.w_type = static_cast<WeightType>(random.Int(0, 4));
    c.bias = random.Int(0, 3) != 0;
    c.residual = random.Int(0, 2) == 0;
    c.clamp = random.Int(0, 1) == 0;
    c.extra_stride = Size(random.Int(0, 2) * 5);
    c.threads = static_cast<int>(random.Int(1, 4));
    Check(c, 1000 + i);
    if (HasFailure()) return;
  }
}

TEST(DirectConv, ThreadCountDoesNotChangeABit) {
  for (const Shape &shape :
       {Square(14, 20, 3, 1, 1, 100), Square(30, 3, 3, 2, 1, 40),
        Dilated(16, 70, 12, 40), MatrixShape(49, 520, 70),
        MatrixShape(1, 513, 1001), MatrixShape(2000, 6, 70)}) {
    for (WeightType type : {WeightType::kF32, WeightType::kF16,
                            WeightType::kBf16Pairs, WeightType::kI8}) {
      Case c;
      c.shape = shape;
      c.w_type = type;
      c.residual = true;
      Random random(11);
      const Data d = MakeData(c, &random);
      for (const Kind &isa : RunnableKinds()) {
        c.threads = 1;
        c.keeps_bf16 = !c.keeps_bf16;  // by turns
        const std::vector<float> one = RunAll(c, d, isa);
        // 16-bit types share their plan with float; emulated tiles are slow.
        const std::vector<int> counts = type == WeightType::kF32
                                            ? std::vector<int>{2, 3, 4, 8}
                                            : std::vector<int>{3};
        for (int threads : counts) {
          c.threads = threads;
          EXPECT_EQ(0, std::memcmp(one.data(), RunAll(c, d, isa).data(),
                                   one.size() * sizeof(float)))
              << Describe(c, isa, random.seed());
        }
      }
    }
  }
}

TEST(DirectConv, SinglePassMayAddInPlace) {
  for (ptrdiff_t depth : {64, 511, 512, 513}) {
    for (ptrdiff_t rows : {1, 20}) {
      Case c;
      c.shape = MatrixShape(rows, depth, 50);
      c.residual = true;
      Random random(14);
      const Data d = MakeData(c, &random);
      for (CpuIsa isa : RunnableIsas()) {
        const DirectPlan plan = PlanFor(c, isa);
        EXPECT_EQ(plan.single_pass, rows == 1 || depth <= 512);
        if (!plan.single_pass) continue;
        const std::vector<float> apart = RunAll(c, d, isa);
        std::vector<float> out = d.residual;
        Args args;
        args.input = d.input.data();
        args.weights = d.packed.data();
        args.output = out.data();
        args.output_stride = 50;
        args.epilogue.bias = d.bias.data();
        args.epilogue.residual = out.data();
        args.epilogue.residual_stride = 50;
        std::vector<double> scratch(plan.scratch_bytes / 8 + 16);
        for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
          RunDirectTask(plan, args, task, scratch.data());
        }
        EXPECT_EQ(out, apart) << Describe(c, isa, random.seed());
      }
    }
  }
}

// For any depth, because the sums are not kept in the output.
TEST(DirectConv, Bf16ResultsMayReplaceTheirResidual) {
  for (ptrdiff_t depth : {64, 1100}) {
    for (ptrdiff_t rows : {1, 20, 40}) {
      Case c;
      c.shape = MatrixShape(rows, depth, 90);
      c.w_type = WeightType::kBf16Pairs;
      c.residual = true;
      c.keeps_bf16 = true;
      Random random(16);
      const Data d = MakeData(c, &random);
      for (const Kind &kind : RunnableKinds()) {
        if (!KeepsBf16(c, kind)) continue;
        const std::vector<float> apart = RunAll(c, d, kind);
        const DirectPlan plan = PlanFor(c, kind);
        EXPECT_TRUE(plan.single_pass);
        const std::vector<uint16_t> input = AllToHalf(d.input, true);
        std::vector<uint16_t> out = AllToHalf(d.residual, true);
        const Memory scratch(plan.scratch_bytes);
        Args args;
        args.input = input.data();
        args.weights = d.packed.data();
        args.output = out.data();
        args.output_stride = 90;
        args.epilogue.residual = out.data();
        args.epilogue.bias = d.bias.data();
        args.epilogue.residual_stride = 90;
        for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
          RunDirectTask(plan, args, task, scratch.p.get());
        }
        EXPECT_EQ(out, AllToHalf(apart, true))
            << Describe(c, kind, random.seed());
      }
    }
  }
}

// Added one after the other in fp16, 2048 numbers 15 are added as 16 once their
// sum is above 8192. With chains the result is exact: chains end at 128 x 15 =
// 1920, and fp16 has all whole numbers up to that; it also has the multiples of
// 1920 up to the four of a K-block, and K-blocks are added in float.
TEST(DirectConv, Fp16SumsAreOfShortChains) {
  for (CpuIsa isa : RunnableFloatIsas()) {
    for (const Shape &shape :
         {MatrixShape(9, 2048, 24), Square(3, 512, 2, 1, 0, 24),
          Square(5, 32, 5, 1, 2, 24)}) {
      Case c;
      c.shape = shape;
      c.w_type = WeightType::kF16;
      if (PlanFor(c, isa).element != Element::kF16) continue;
      const size_t taps = static_cast<size_t>(shape.kernel_h * shape.kernel_w);
      const size_t depth = static_cast<size_t>(shape.in_c) * taps;
      const size_t pixels = static_cast<size_t>(shape.out_h * shape.out_w);
      Data d;
      d.input.assign(static_cast<size_t>(shape.in_h * shape.in_w * shape.in_c),
                     1.0f);
      d.filter.assign(24 * depth, 15.0f);
      d.bias.assign(24, 0.0f);
      d.residual.assign(pixels * 24, 0.0f);
      Pack(c, &d);
      const std::vector<float> out = RunAll(c, d, isa);
      // The pixel in the middle reads all taps.
      EXPECT_EQ(out[pixels / 2 * 24], 15.0f * static_cast<float>(depth));
    }
  }
}

// With several rows, the weights are widened to exactly these floats.
TEST(DirectConv, Int8WeightsGiveTheBitsOfTheirFloats) {
  for (const Shape &shape :
       {Square(9, 20, 3, 1, 1, 70), Square(12, 3, 3, 2, 1, 40),
        MatrixShape(7, 1300, 50)}) {
    Case c;
    c.shape = shape;
    c.w_type = WeightType::kI8;
    Random random(15);
    Data d = MakeData(c, &random);
    Case whole = c;
    whole.w_type = WeightType::kF32;
    Data same = d;
    Pack(whole, &same);
    for (CpuIsa isa : RunnableIsas()) {
      EXPECT_EQ(RunAll(c, d, isa), RunAll(whole, same, isa))
          << Describe(c, isa, random.seed());
    }
  }
}

TEST(DirectConv, NanAndInfinitySurviveTheClamp) {
  Case c;
  c.shape = MatrixShape(13, 6, 40);
  c.clamp = true;
  Random random(12);
  Data d = MakeData(c, &random);
  d.input[2 * 6 + 1] = std::numeric_limits<float>::quiet_NaN();
  for (CpuIsa isa : RunnableIsas()) {
    const std::vector<float> out = RunAll(c, d, isa);
    for (size_t n = 0; n < 40; ++n) {
      EXPECT_TRUE(std::isnan(out[2 * 40 + n])) << CpuIsaName(isa);
      EXPECT_FALSE(std::isnan(out[3 * 40 + n])) << CpuIsaName(isa);
    }
  }
}

TEST(DirectConv, RegionsCoverTheOutputOnce) {
  Shape s = Square(20, 12, 3, 1, 1, 90);
  s.groups = 3;
  for (int threads : {1, 2, 5}) {
    DirectRequest request;
    request.shape = s;
    request.arithmetic =
        gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, BestCpuIsa());
    request.threads = threads;
    const DirectPlan plan = PlanDirect(request);
    std::vector<int> seen(Size(plan.rows * s.out_c), 0);
    for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
      const Region r = RegionOf(plan, task);
      for (ptrdiff_t m = r.row_begin; m < r.row_end; ++m) {
        for (ptrdiff_t n = r.column_begin; n < r.column_end; ++n) {
          ++seen[Size(m * s.out_c + n)];
        }
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), plan.rows * s.out_c);
  }
}

}  // namespace
}  // namespace mace::conv
