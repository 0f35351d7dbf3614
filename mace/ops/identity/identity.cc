// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/shape_only_op.h"
#include "mace/ops/identity/identity_schema.h"

namespace mace {

namespace {

class IdentityOp final : public ShapeOnlyOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    IdentityAttributes attributes;
    return attributes.Parse(context->def());
  }

 protected:
  MaceStatus OutputShape(ShapeContext *context, Shape *shape) const override {
    *shape = context->input(kIdentityInputInput)->shape;
    return MaceStatus();
  }
};

}  // namespace

MACE_REGISTER_OP(Identity, CPU, IdentityOp);

}  // namespace mace
