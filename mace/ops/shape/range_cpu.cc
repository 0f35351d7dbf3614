// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/shape/range_schema.h"

namespace mace {
namespace {

class RangeOp final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
    const Tensor *start = context->input(kRangeStartInput);
    const Tensor *delta = context->input(kRangeDeltaInput);
    Tensor *output = context->output(0);
    const int64_t count = output->elements();
    if (start->data_type == DataType::kInt32) {
      // No sum leaves the range between start and limit.
      const int64_t first = *start->As<int32_t>();
      const int64_t step = *delta->As<int32_t>();
      auto *y = output->MutableAs<int32_t>();
      for (int64_t i = 0; i < count; ++i) {
        y[i] = static_cast<int32_t>(first + i * step);
      }
      return MaceStatus();
    }
    const auto first = double{*start->As<float>()};
    const auto step = double{*delta->As<float>()};
    auto *y = output->MutableAs<float>();
    for (int64_t i = 0; i < count; ++i) {
      y[i] = static_cast<float>(first + static_cast<double>(i) * step);
    }
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Range, CPU, RangeOp);

}  // namespace
}  // namespace mace
