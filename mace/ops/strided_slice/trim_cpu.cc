// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/strided_slice/trim_schema.h"

namespace mace {
namespace {

struct TrimPlan final : OpPlan {
  // Of the last run. Runs with one plan never overlap, and the engine reads the
  // shape before the next one.
  mutable Shape shape;
};

class TrimOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    axis_ = context->AttributesAs<TrimAttributes>().axis;
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor *input = context->input(kTrimInputInput);
    // Nothing is written after it was overtaken: results only move forward.
    if (input->shape == context->output(0)->shape) {
      context->AllowInPlace(0, 0);
    }
    auto plan = std::make_unique<TrimPlan>();
    plan->shape = input->shape;
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kTrimInputInput);
    const auto &plan = context->PlanAs<TrimPlan>();
    Tensor *output = context->output(0);
    const Shape &shape = input->shape;
    const auto axis = static_cast<size_t>(shape.NormalizeAxis(axis_));
    const int64_t count = std::clamp<int64_t>(
        *context->input(kTrimCountInput)->As<int32_t>(), 0, shape[axis]);
    plan.shape[axis] = count;
    output->run_shape = plan.shape == output->shape ? nullptr : &plan.shape;

    const int64_t block = shape.Elements(axis + 1, shape.rank()) *
                          static_cast<int64_t>(DataTypeSize(input->data_type));
    const auto kept = static_cast<size_t>(count * block);
    if (kept == 0) return MaceStatus();
    const auto *from = input->As<uint8_t>();
    auto *to = output->MutableAs<uint8_t>();
    for (int64_t i = shape.Elements(0, axis); i > 0; --i) {
      if (to != from) std::memmove(to, from, kept);
      from += shape[axis] * block;
      to += kept;
    }
    return MaceStatus();
  }

 private:
  int64_t axis_ = 0;
};

MACE_REGISTER_OP(Trim, CPU, TrimOp);

}  // namespace
}  // namespace mace
