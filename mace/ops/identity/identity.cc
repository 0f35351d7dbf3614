// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/identity/identity_schema.h"

namespace mace {

namespace {

class IdentityOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    IdentityAttributes attributes;
    return attributes.Parse(context->def());
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *input = context->input(kIdentityInputInput);
    MACE_RETURN_IF_ERROR(SetOutput(context, 0, input->shape, input->data_type));
    context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  HalfUse half_use() const override { return HalfUse::kFollows; }

  MaceStatus Run(RunContext *context) override {
    CopyInputToOutput(context);
    return MaceStatus();
  }
};

}  // namespace

MACE_REGISTER_OP(Identity, CPU, IdentityOp);

}  // namespace mace
