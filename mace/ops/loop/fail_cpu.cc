// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstring>
#include <string>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/loop/fail_schema.h"

namespace mace {
namespace {

class FailOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    message_ = context->AttributesAs<FailAttributes>().message;
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(kFailOutputOutput, kFailXInput);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    if (*context->input(kFailConditionInput)->As<uint8_t>() != 0) {
      return Unsupported(message_);
    }
    const Tensor &x = *context->input(kFailXInput);
    Tensor *output = context->output(kFailOutputOutput);
    if (x.elements() > 0 && output->data != x.data) {
      std::memcpy(output->data, x.data, static_cast<size_t>(x.bytes()));
    }
    return MaceStatus();
  }

 private:
  std::string message_;
};

MACE_REGISTER_OP(Fail, CPU, FailOp);

}  // namespace
}  // namespace mace
