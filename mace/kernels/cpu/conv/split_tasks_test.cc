// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::conv {
namespace {

struct Product {
  ptrdiff_t rows;
  ptrdiff_t depth;
  ptrdiff_t columns;
};

// Layers of Inception v3, ResNet-50 and MobileNet v2 as products; some have few
// rows or a number of columns that is hard to divide evenly.
constexpr Product kProducts[] = {
    {289, 768, 192}, {289, 1344, 192}, {5329, 80, 192}, {3136, 24, 144},
    {196, 576, 96},  {196, 64, 384},   {784, 32, 192},  {12544, 16, 96},
    {49, 960, 320},  {49, 2048, 512},  {64, 1280, 448},
};

DirectPlan Plan(const Product &p, int threads) {
  DirectRequest request;
  request.shape = MatrixShape(p.rows, p.depth, p.columns);
  request.arithmetic =
      gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, RunnableIsas().front());
  request.threads = threads;
  return PlanDirect(request);
}

// Products of rows and columns of the busiest thread, if each starts the next
// task as soon as it is free.
double BusiestShare(const DirectPlan &plan, int threads) {
  std::vector<double> busy(static_cast<size_t>(threads), 0.0);
  for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
    const Region r = RegionOf(plan, task);
    *std::min_element(busy.begin(), busy.end()) += static_cast<double>(
        (r.row_end - r.row_begin) * (r.column_end - r.column_begin));
  }
  return *std::max_element(busy.begin(), busy.end());
}

TEST(SplitTasks, SharesAreNearlyEqual) {
  for (const Product &p : kProducts) {
    for (int threads : {2, 3, 4}) {
      const double all = static_cast<double>(p.rows * p.columns);
      EXPECT_LT(BusiestShare(Plan(p, threads), threads) * threads, 1.1 * all)
          << p.rows << " x " << p.depth << " x " << p.columns << " on "
          << threads;
    }
  }
}

TEST(SplitTasks, SlowerCoresLeaveWorkToOthers) {
  for (const Product &p : kProducts) {
    EXPECT_GE(Plan(p, 2).tasks, 6)
        << p.rows << " x " << p.depth << " x " << p.columns;
  }
}

TEST(SplitTasks, OneThreadGetsWhatTheCacheAllows) {
  EXPECT_EQ(Plan({49, 960, 320}, 1).tasks, 1);
}

}  // namespace
}  // namespace mace::conv
