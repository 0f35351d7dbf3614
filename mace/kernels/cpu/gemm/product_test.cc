// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/product.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/kernel_testing.h"
#include "mace/kernels/cpu/transpose/transpose.h"

namespace mace::gemm {
namespace {

constexpr float kGuard = 12345.0f;

struct Operands {
  Operands(const ProductShape &shape, Random *random)
      : a(random->Floats(shape.rows * shape.depth)),
        b(random->Floats(shape.depth * shape.columns)) {}
  std::vector<float> a;
  std::vector<float> b;
};

std::vector<float> Multiply(const ProductPlan &plan, const Operands &operands) {
  const size_t outputs = plan.shape.rows * plan.shape.columns;
  std::vector<float> c(outputs + 1, kGuard);
  void *scratch = nullptr;
  EXPECT_EQ(posix_memalign(&scratch, 64, plan.scratch_bytes + 64), 0);
  // Backwards: tasks do not depend on each other.
  for (size_t task = plan.tasks; task-- > 0;) {
    RunProductTask(plan, {operands.a.data(), operands.b.data(), c.data()}, task,
                   scratch);
  }
  std::free(scratch);
  EXPECT_EQ(c[outputs], kGuard);
  c.pop_back();
  return c;
}

void Check(CpuIsa isa, const ProductShape &shape, Random *random) {
  SCOPED_TRACE(::testing::Message()
               << CpuIsaName(isa) << " " << shape.rows << "x" << shape.depth
               << "x" << shape.columns << (shape.transposed_b ? " turned" : "")
               << " seed " << random->seed());
  const ProductKernels kernels = {ArithmeticFor(ArithmeticKind::kFloat, isa),
                                  FewRowsKernelsFor(isa),
                                  transpose::KernelsFor(isa)->matrix32};
  const Operands operands(shape, random);
  const ProductPlan plan = PlanProduct(shape, kernels, 1, 1);
  ASSERT_NE(plan.kind, ProductPlan::Kind::kNone);
  const std::vector<float> c = Multiply(plan, operands);
  for (size_t m = 0; m < shape.rows; ++m) {
    for (size_t n = 0; n < shape.columns; ++n) {
      double want = 0;
      double magnitude = 0;
      for (size_t k = 0; k < shape.depth; ++k) {
        const double product =
            static_cast<double>(operands.a[m * shape.depth + k]) *
            operands.b[shape.transposed_b ? n * shape.depth + k
                                          : k * shape.columns + n];
        want += product;
        magnitude += std::fabs(product);
      }
      // Two roundings a step where multiplication and addition are not fused.
      const double bound =
          2.0 * static_cast<double>(shape.depth + 16) * 0x1p-24 * magnitude;
      ASSERT_TRUE(Near(c[m * shape.columns + n], want, bound))
          << "row " << m << ", column " << n << ": " << c[m * shape.columns + n]
          << " instead of " << want;
    }
  }
  for (int threads : {2, 5}) {
    const std::vector<float> other =
        Multiply(PlanProduct(shape, kernels, 1, threads), operands);
    ASSERT_EQ(std::memcmp(other.data(), c.data(), c.size() * sizeof(float)), 0)
        << threads << " threads";
  }
}

TEST(Product, AgreesWithSumsInDouble) {
  Random random(21);
  for (CpuIsa isa : RunnableIsas()) {
    for (size_t rows : {1, 2, 3, 5, 16, 17, 40}) {
      for (size_t columns : {1, 3, 67, 300}) {
        for (size_t depth : {1, 7, 64}) {
          for (bool turned : {false, true}) {
            Check(isa, {rows, depth, columns, turned}, &random);
          }
        }
      }
    }
  }
}

// More columns than a pass of the few rows, more of B than a task packs, more
// of K than a K-block.
TEST(Product, LargeOnes) {
  Random random(22);
  for (CpuIsa isa : RunnableIsas()) {
    for (size_t rows : {1, 3, 19}) {
      for (bool turned : {false, true}) {
        Check(isa, {rows, 37, 2100, turned}, &random);
        Check(isa, {rows, 1100, 150, turned}, &random);
      }
    }
  }
}

TEST(Product, NotANumberStaysInItsRowAndColumn) {
  for (CpuIsa isa : RunnableIsas()) {
    const ProductKernels kernels = {ArithmeticFor(ArithmeticKind::kFloat, isa),
                                    FewRowsKernelsFor(isa),
                                    transpose::KernelsFor(isa)->matrix32};
    for (size_t rows : {3, 20}) {
      for (bool turned : {false, true}) {
        Random random(23);
        const ProductShape shape = {rows, 11, 21, turned};
        Operands operands(shape, &random);
        operands.a[2 * shape.depth + 5] = std::nanf("");
        operands.b[turned ? 7 * shape.depth + 3 : 3 * shape.columns + 7] =
            std::nanf("");
        const std::vector<float> c =
            Multiply(PlanProduct(shape, kernels, 1, 1), operands);
        for (size_t i = 0; i < c.size(); ++i) {
          const bool reached = i / shape.columns == 2 || i % shape.columns == 7;
          EXPECT_EQ(std::isnan(c[i]), reached) << CpuIsaName(isa) << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace mace::gemm
