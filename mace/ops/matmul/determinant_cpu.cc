// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/matmul/determinant_schema.h"

namespace mace {
namespace {

// Gaussian elimination with partial pivoting; `m` is [n, n] and is overwritten.
double Eliminate(double *m, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(m + k * n + k, m + (k + 1) * n, m + pivot * n + k);
      product = -product;
    }
    const double *row = m + k * n;
    product *= row[k];
    if (row[k] == 0) return product;
    for (int64_t i = k + 1; i < n; ++i) {
      double *other = m + i * n;
      const double factor = other[k] / row[k];
      for (int64_t j = k + 1; j < n; ++j) other[j] -= factor * row[j];
    }
  }
  return product;
}

class DeterminantOp final : public CpuOp {
 public:
  MaceStatus Plan(PlanContext *context) override {
    const int64_t n = context->input(kDeterminantInputInput)->shape.back();
    context->RequestScratch(
        static_cast<size_t>(context->thread_pool()->thread_count() * n * n) *
        sizeof(double));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kDeterminantInputInput);
    Tensor *output = context->output(0);
    const int64_t n = input->shape.back();
    const float *x = input->As<float>();
    auto *y = output->MutableAs<float>();
    auto *scratch = static_cast<double *>(context->scratch());
    context->thread_pool()->ParallelFor(
        output->elements(), RowGrain(n * n * n),
        [=](int64_t begin, int64_t end, int thread) {
          double *matrix = scratch + thread * n * n;
          for (int64_t i = begin; i < end; ++i) {
            std::copy(x + i * n * n, x + (i + 1) * n * n, matrix);
            y[i] = static_cast<float>(Eliminate(matrix, n));
          }
        });
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Determinant, CPU, DeterminantOp);

}  // namespace
}  // namespace mace
