// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Pixels of 8 bits, and what a network makes of them first: (x - mean) * scale.

#include <memory>
#include <vector>

#include "mace/ops/cast/cast_schema.h"
#include "mace/ops/normalization/batch_norm_opencl.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class CastBatchNorm final : public OpenclFusion {
 public:
  MaceStatus Plan(const std::vector<const OpenclPlanContext *> &operators,
                  OpenclPlanContext *last) const override {
    const DataType from = operators[0]->input(kCastInputInput)->data_type;
    if (from != DataType::kInt8 && from != DataType::kUint8) {
      return Unsupported("the operators do not fit one kernel");
    }
    AddBatchNorm(true, last);
    return MaceStatus();
  }
};

const OpenclFusionRegistration registration(
    {"Cast", "BatchNorm"}, []() -> std::unique_ptr<OpenclFusion> {
      return std::make_unique<CastBatchNorm>();
    });

}  // namespace
}  // namespace mace
