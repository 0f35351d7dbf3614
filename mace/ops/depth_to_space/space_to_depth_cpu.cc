// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depth_to_space/space_to_depth_schema.h"

#include "mace/ops/pixel_block/pixel_block_op.h"

namespace mace {

namespace {

class SpaceToDepthOp final : public PixelBlockOp {
 public:
  SpaceToDepthOp() : PixelBlockOp(Output::kDeep) {}

  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<SpaceToDepthAttributes>();
    SetBlock(attributes.block, attributes.order);
    return MaceStatus();
  }
};

}  // namespace

MACE_REGISTER_OP(SpaceToDepth, CPU, SpaceToDepthOp);

}  // namespace mace
