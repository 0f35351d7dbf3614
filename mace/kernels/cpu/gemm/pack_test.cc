// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/pack.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/kernel_testing.h"
#include "mace/kernels/cpu/transpose/transpose.h"

namespace mace::gemm {
namespace {

constexpr float kGuard = 12345.0f;

TEST(PackPanels, PlainAndTransposed) {
  Random random(13);
  for (size_t columns : {1, 16, 17, 40}) {
    for (size_t depth : {1, 5, 64, 130}) {
      const std::vector<float> b = random.Floats(depth * columns);
      for (bool transposed : {false, true}) {
        PackArgs args;
        args.b = b.data();
        args.depth = depth;
        args.columns = columns;
        args.depth_stride = transposed ? 1 : columns;
        args.column_stride = transposed ? depth : 1;
        args.transpose = transpose::KernelsFor(BestCpuIsa())->matrix32;
        std::vector<float> packed(PackedFloats(depth, columns), kGuard);
        PackPanels(args, 0, PanelCount(columns), packed.data());
        for (size_t n = 0; n < PanelCount(columns) * 16; ++n) {
          for (size_t k = 0; k < depth; ++k) {
            const float want =
                n >= columns
                    ? 0.0f
                    : b[k * args.depth_stride + n * args.column_stride];
            ASSERT_EQ(packed[(n / 16 * depth + k) * 16 + n % 16], want);
          }
        }
      }
    }
  }
}

TEST(PackPanelsInPairs, PlainAndTransposed) {
  Random random(14);
  for (CpuIsa isa : RunnableFloatIsas()) {
    const Arithmetic *half = ArithmeticFor(ArithmeticKind::kBf16, isa);
    if (half == nullptr) continue;
    for (size_t columns : {1, 16, 17, 40}) {
      for (size_t depth : {1, 5, 64, 131}) {
        const std::vector<float> b = random.Floats(depth * columns);
        std::vector<uint16_t> b_half(b.size());
        std::transform(b.begin(), b.end(), b_half.begin(), ToBf16);
        for (int kind = 0; kind < 4; ++kind) {
          const bool transposed = kind % 2 != 0;
          PackArgs args;
          if (kind < 2) {
            args.b = b.data();
          } else {
            args.b = b_half.data();
            args.b_type = Element::kBf16;
          }
          args.depth = depth;
          args.columns = columns;
          args.depth_stride = transposed ? 1 : columns;
          args.column_stride = transposed ? depth : 1;
          args.transpose = transpose::KernelsFor(isa)->matrix32;
          const size_t even = (depth + 1) / 2 * 2;
          const size_t panels = PanelCount(columns);
          ASSERT_EQ(PackedPairNumbers(depth, columns), panels * even * 16);
          std::vector<uint16_t> packed(panels * even * 16 + 1, 0xdead);
          PackPanelsInPairs(args, *half, 0, panels, packed.data());
          EXPECT_EQ(packed.back(), 0xdead);
          for (size_t n = 0; n < panels * 16; ++n) {
            for (size_t k = 0; k < even; ++k) {
              const float want =
                  n >= columns || k >= depth
                      ? 0.0f
                      : b[k * args.depth_stride + n * args.column_stride];
              ASSERT_EQ(
                  packed[((n / 16 * even + k) / 2 * 16 + n % 16) * 2 + k % 2],
                  ToBf16(want));
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mace::gemm
