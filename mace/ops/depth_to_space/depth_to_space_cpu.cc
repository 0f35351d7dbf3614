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
    const auto &attributes = context->AttributesAs<DepthToSpaceAttributes>();
    SetBlock(attributes.block, attributes.order);
    return MaceStatus();
  }
};

}  // namespace

MACE_REGISTER_OP(DepthToSpace, CPU, DepthToSpaceOp);

}  // namespace mace
