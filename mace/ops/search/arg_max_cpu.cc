// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/search/arg_max_schema.h"

#include <algorithm>

#include "mace/kernels/cpu/arg/arg.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

// Columns per task if the axis is not the last one: whole vectors.
constexpr int64_t kColumnBlock = 256;

class ArgMaxOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = arg::KernelsFor(isa());
    attributes_ = context->AttributesAs<ArgMaxAttributes>();
    wanted_.smallest = attributes_.mode == ArgMaxMode::MIN;
    wanted_.last = attributes_.last;
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kArgMaxInputInput);
    Tensor *output = context->output(0);
    if (output->elements() == 0) return MaceStatus();
    const Shape &shape = input->shape;
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    const int64_t length = shape[axis];
    const int64_t outer = shape.Elements(0, axis);
    const int64_t inner = shape.Elements(axis + 1, shape.rank());
    const float *x = input->As<float>();
    auto *y = output->MutableAs<int32_t>();
    const auto n = static_cast<size_t>(length);
    if (inner == 1) {
      context->thread_pool()->ParallelFor(
          outer, RowGrain(length),
          [=](int64_t begin, int64_t end, int /*thread*/) {
            for (int64_t i = begin; i < end; ++i) {
              y[i] = kernels_->row(wanted_, x + i * length, n);
            }
          });
      return MaceStatus();
    }
    const int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
    context->thread_pool()->ParallelFor(
        outer * blocks, RowGrain(length * std::min(inner, kColumnBlock)),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t i = item / blocks;
            const int64_t column = item % blocks * kColumnBlock;
            kernels_->rows(
                wanted_, x + i * length * inner + column,
                static_cast<size_t>(inner), n,
                static_cast<size_t>(std::min(kColumnBlock, inner - column)),
                y + i * inner + column);
          }
        });
    return MaceStatus();
  }

 private:
  ArgMaxAttributes attributes_;
  arg::Wanted wanted_;
  const arg::Kernels *kernels_ = nullptr;
};

}  // namespace

MACE_REGISTER_OP(ArgMax, CPU, ArgMaxOp);

}  // namespace mace
