// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/depth_to_space_schema.h"

#include "mace/ops/pixel_block/pixel_block_op.h"

namespace mace {

namespace {

class DepthToSpaceOp final : public PixelBlockOp {
 public:
  DepthToSpaceOp() : PixelBlockOp(Output::kWide) {}

  MaceStatus InitOp(InitContext *context) override {
    DepthToSpaceAttributes attributes;
    MACE_RETURN_IF_ERROR(attributes.Parse(context->def()));
    SetBlock(attributes.block, attributes.order);
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &shape = context->input(kDepthToSpaceInputInput)->shape;
    if (shape.rank() != 4 || shape[3] % (block() * block()) != 0) {
      return Invalid("takes [N, H, W, C] with C divisible by block * block = ",
                     block() * block(), ", not ", shape.ToString());
    }
    return SetDeepShape(context, shape);
  }
};

}  // namespace

MACE_REGISTER_OP(DepthToSpace, CPU, DepthToSpaceOp);

}  // namespace mace
