// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/pack.h"

#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/kernel_testing.h"

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

}  // namespace
}  // namespace mace::gemm
