// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Pixels of 8 bits, and what a network makes of them first: (x - mean) * scale.

#include <memory>

#include "mace/ops/batch_norm/batch_norm_opencl.h"
#include "mace/ops/batch_norm/batch_norm_schema.h"
#include "mace/ops/cast/cast_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class CastBatchNorm final : public OpenclFusion {
 public:
  MaceStatus Plan(const OpenclPlanContext &first,
                  size_t port,
                  OpenclPlanContext *second) const override {
    const DataType from = first.input(kCastInputInput)->data_type;
    const bool of_bytes = from == DataType::kInt8 || from == DataType::kUint8;
    if (!of_bytes || port != kBatchNormInputInput) {
      return Unsupported("the operators do not fit one kernel");
    }
    AddBatchNorm(true, second);
    return MaceStatus();
  }
};

const OpenclFusionRegistration registration(
    "Cast", "BatchNorm", []() -> std::unique_ptr<OpenclFusion> {
      return std::make_unique<CastBatchNorm>();
    });

}  // namespace
}  // namespace mace
