// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/softmax/softmax.h"

#include <algorithm>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/softmax/softmax_schema.h"

namespace mace {

namespace {

// Adjacent columns per task if the axis is not the innermost one: whole vectors
// on every ISA.
constexpr int64_t kColumnBlock = 256;

class SoftmaxOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = softmax::KernelsFor(isa());
    attributes_ = context->AttributesAs<SoftmaxAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kSoftmaxInputInput);
    const float *x = input->As<float>();
    float *y = context->output(0)->MutableAs<float>();
    const Shape &shape = input->shape;
    if (shape.Elements() == 0) return MaceStatus();
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    const int64_t n = shape[axis];
    const int64_t outer = shape.Elements(0, axis);
    const int64_t inner = shape.Elements(axis + 1, shape.rank());
    const softmax::Kernels *kernels = kernels_;
    const bool log = attributes_.log;
    // An exponential takes about as long as 4 simple elements.
    constexpr int64_t kCost = 4;
    if (inner == 1) {
      context->thread_pool()->ParallelFor(
          outer, RowGrain(n * kCost),
          [=](int64_t begin, int64_t end, int /*thread*/) {
            kernels->rows(x + begin * n, y + begin * n,
                          static_cast<size_t>(end - begin),
                          static_cast<size_t>(n), log);
          });
      return MaceStatus();
    }
    const int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
    context->thread_pool()->ParallelFor(
        outer * blocks, RowGrain(n * std::min(inner, kColumnBlock) * kCost),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t column = item % blocks * kColumnBlock;
            const int64_t at = item / blocks * n * inner + column;
            kernels->columns(
                x + at, y + at, static_cast<size_t>(n),
                static_cast<size_t>(inner),
                static_cast<size_t>(std::min(inner - column, kColumnBlock)),
                log);
          }
        });
    return MaceStatus();
  }

 private:
  SoftmaxAttributes attributes_;
  const softmax::Kernels *kernels_ = nullptr;
};

}  // namespace

MACE_REGISTER_OP(Softmax, CPU, SoftmaxOp);

}  // namespace mace
