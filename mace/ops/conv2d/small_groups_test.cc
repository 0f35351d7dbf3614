// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"
#include "mace/ops/window/conv_testing.h"

namespace mace {
namespace {

using op_test::Convolve;
using op_test::ExpectFloats;
using op_test::kConvTolerance;
using op_test::NaiveConv;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

constexpr const char *kName = "small groups";

// 3x3 with some stride and one pixel of padding.
struct Problem {
  Problem(Random *random,
          int64_t groups,
          int64_t depth,
          int64_t outputs,
          int64_t stride,
          int64_t width = 11)
      : groups(groups),
        stride(stride),
        x(random->Floats({2, 9, width, groups * depth})),
        f(random->Floats({groups * outputs, 3, 3, depth}, -0.4f, 0.3f)),
        b(random->Floats({groups * outputs})) {}

  Shape OutputShape() const {
    return {2, (9 - 1) / stride + 1, (x.shape[2] - 1) / stride + 1, f.shape[0]};
  }

  OpCase Make(DataType stored) const {
    OpCase op_case("Conv2D");
    op_case.Input(x).Packed(f, static_cast<int>(groups), stored);
    return Attributes(op_case);
  }

  OpCase Attributes(OpCase op_case) const {
    return op_case.Constant(b)
        .Int("groups", groups)
        .Ints("strides", {stride, stride})
        .String("padding", "EXPLICIT")
        .Ints("pads", {1, 1, 1, 1});
  }

  std::vector<double> Sums() const {
    NaiveConv n;
    n.stride[0] = n.stride[1] = stride;
    n.pads[0] = n.pads[1] = n.pads[2] = n.pads[3] = 1;
    n.groups = groups;
    return Convolve(x, f, b.floats(), n);
  }

  int64_t groups;
  int64_t stride;
  Value x, f, b;
};

// Whether products of an ISA have tiles of 8 columns, which are faster than
// these kernels for groups of 8 outputs.
bool HasNarrowTiles(CpuIsa isa) {
  const std::string name = CpuIsaName(isa);
  return name == "sse41" || name == "avx2" || name == "avx2_vnni";
}

// `small`: whether these kernels are used where no product has such tiles.
void ExpectKernel(const OpCase &op_case, bool small, int64_t outputs) {
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    EXPECT_EQ(result.result.kernel_name.rfind(kName, 0) == 0,
              small && (outputs < 8 || !HasNarrowTiles(result.isa)))
        << result.result.kernel_name << " on " << CpuIsaName(result.isa);
  }
}

TEST(SmallGroupsTest, EveryWidth) {
  Random random(1);
  for (const int64_t depth : {1, 2, 3, 4, 8}) {
    for (const int64_t outputs : {1, 2, 3, 4, 8}) {
      for (const int64_t stride : {1, 2}) {
        const Problem p(&random, 7, depth, outputs, stride);
        const OpCase op_case = p.Make(DataType::kFloat32);
        ExpectFloats(op_case, p.OutputShape(), p.Sums(), kConvTolerance);
        // With strides, copies would cost more than lanes that do nothing.
        ExpectKernel(op_case, stride == 1 || depth < 4 || outputs < 4, outputs);
      }
    }
  }
}

// A copy of all groups would not fit in a band: some at a time.
TEST(SmallGroupsTest, WideImages) {
  Random random(5);
  const Problem p(&random, 7, 8, 8, 1, 100);
  const OpCase op_case = p.Make(DataType::kFloat32);
  ExpectFloats(op_case, p.OutputShape(), p.Sums(), kConvTolerance);
  ExpectKernel(op_case, true, 8);
}

TEST(SmallGroupsTest, EveryStorageAndActivation) {
  Random random(2);
  Problem p(&random, 24, 4, 4, 1);
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    // Rounding a weight of at most 0.4 to 8 bits has an error of up to 2^-9 of
    // it.
    ExpectFloats(p.Make(type), p.OutputShape(), p.Sums(), {0.03, 0.0});
  }
  std::vector<double> relu;
  std::vector<double> tanh;
  for (const double v : p.Sums()) {
    relu.push_back(v < 0 ? 0 : v);
    tanh.push_back(std::tanh(v));
  }
  ExpectFloats(p.Make(DataType::kFloat32).String("activation", "RELU"),
               p.OutputShape(), relu, kConvTolerance);
  ExpectFloats(p.Make(DataType::kFloat32).String("activation", "TANH"),
               p.OutputShape(), tanh, kConvTolerance);
  OpCase scaled("Conv2D");
  scaled.Input(p.x).PackedScaled(p.f, static_cast<int>(p.groups), &p.f);
  ExpectFloats(p.Attributes(scaled), p.OutputShape(), p.Sums(), kConvTolerance);
  ExpectKernel(p.Attributes(scaled), true, 4);
}

// In fp16, the error of a sum of 37 numbers of at most 1 is less than 37 *
// 2^-11.
TEST(SmallGroupsTest, Fp16Arithmetic) {
  Random random(3);
  const Problem p(&random, 24, 4, 4, 1);
  const OpCase op_case =
      p.Make(DataType::kFloat16).ComputeIn(Precision::kFloat16);
  ExpectFloats(op_case, p.OutputShape(), p.Sums(), {0.02, 0.02});
  for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
    EXPECT_EQ(result.result.kernel_name,
              HasFp16(result.isa) ? "small groups in fp16" : kName);
  }
}

Value WholeNumbers(Random *random, const Shape &shape) {
  std::vector<float> values;
  for (const int32_t x : random->Ints(shape, -1, 1).ints()) {
    values.push_back(static_cast<float>(x));
  }
  return Value::Floats(shape, values);
}

// Sums of whole numbers up to 256 are exact in bf16.
TEST(SmallGroupsTest, Bf16Arithmetic) {
  struct Kind {
    int64_t groups;
    int64_t channels;
    int64_t stride;
    bool small;
  };
  Random random(6);
  for (const Kind &kind :
       {Kind{7, 4, 1, true}, Kind{5, 8, 1, true}, Kind{5, 8, 2, true},
        Kind{3, 16, 2, true}, Kind{2, 24, 1, true}, Kind{2, 24, 2, false},
        Kind{5, 3, 1, false}, Kind{1, 8, 1, false}}) {
    Problem p(&random, kind.groups, kind.channels, kind.channels, kind.stride);
    p.x = WholeNumbers(&random, p.x.shape);
    p.f = WholeNumbers(&random, p.f.shape);
    p.b = WholeNumbers(&random, p.b.shape);
    const OpCase op_case =
        p.Attributes(OpCase("Conv2D").Input(p.x).PackedPairs(p.f, kind.groups))
            .ComputeIn(Precision::kBfloat16);
    ExpectFloats(op_case, p.OutputShape(), p.Sums(), kConvTolerance);
    for (const op_test::IsaResult &result : op_test::RunEverywhere(op_case)) {
      // AMX keeps its products.
      if (CpuIsaName(result.isa) != std::string("avx512_bf16")) continue;
      EXPECT_EQ(result.result.kernel_name == "small groups in bf16", kind.small)
          << result.result.kernel_name;
    }
  }
}

// Convolutions that the strategy does not support.
TEST(SmallGroupsTest, OthersAreProducts) {
  Random random(4);
  ExpectKernel(Problem(&random, 3, 16, 4, 1).Make(DataType::kFloat32), false,
               4);
  ExpectKernel(Problem(&random, 3, 4, 16, 1).Make(DataType::kFloat32), false,
               4);
  const Problem p(&random, 6, 4, 4, 1);
  const Value residual = random.Floats(p.OutputShape());
  std::vector<double> sums = p.Sums();
  const std::vector<float> added = residual.floats();
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += added[i];
  OpCase op_case("Conv2D");
  op_case.Input(p.x).Packed(p.f, 6).Constant(p.b).Input(residual);
  op_case.Int("groups", 6).String("padding", "SAME");
  ExpectFloats(op_case, p.OutputShape(), sums, kConvTolerance);
  ExpectKernel(op_case, false, 4);
}

}  // namespace
}  // namespace mace
