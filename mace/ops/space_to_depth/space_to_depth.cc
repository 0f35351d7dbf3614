// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/space_to_depth/space_to_depth_schema.h"

#include "mace/ops/pixel_block/pixel_block_op.h"

namespace mace {

namespace {

class SpaceToDepthOp final : public PixelBlockOp {
 public:
  SpaceToDepthOp() : PixelBlockOp(Output::kDeep) {}

  MaceStatus InitOp(InitContext *context) override {
    SpaceToDepthAttributes attributes;
    MACE_RETURN_IF_ERROR(attributes.Parse(context->def()));
    SetBlock(attributes.block, attributes.order);
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &shape = context->input(kSpaceToDepthInputInput)->shape;
    if (shape.rank() != 4 || shape[1] % block() != 0 ||
        shape[2] % block() != 0) {
      return Invalid("takes [N, H, W, C] with H and W divisible by block = ",
                     block(), ", not ", shape.ToString());
    }
    return SetDeepShape(context,
                        {shape[0], shape[1] / block(), shape[2] / block(),
                         shape[3] * block() * block()});
  }
};

}  // namespace

MACE_REGISTER_OP(SpaceToDepth, CPU, SpaceToDepthOp);

}  // namespace mace
