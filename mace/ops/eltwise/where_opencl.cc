// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/eltwise/where_cl.h"
#include "mace/ops/eltwise/where_schema.h"
#include "mace/ops/opencl_op/gpu_broadcast.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class WhereOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &context) const override {
    NumberRange range = NumberRange::Of(NumberRange::Result::kElements);
    range.large = HasBeyondHalf(context.input(kWhereAInput)) ||
                  HasBeyondHalf(context.input(kWhereBInput));
    return range;
  }
  bool TakesIntegers() const override { return true; }
  bool TakesBytes() const override { return true; }

  MaceStatus Plan(OpenclPlanContext *context) const override {
    const GpuBroadcast broadcast(
        context->output(0)->shape,
        {context->input(kWhereConditionInput), context->input(kWhereAInput),
         context->input(kWhereBInput)});
    Launch launch(kWhereCl, "choose");
    broadcast.AddOperand(&launch, "condition", kWhereConditionInput);
    broadcast.AddOperand(&launch, "a", kWhereAInput);
    broadcast.AddOperand(&launch, "b", kWhereBInput);
    broadcast.AddOutput(&launch);
    if (context->output(0)->data_type == DataType::kInt32) {
      launch.Define("OF_INTS");
    }
    const GpuDims dims = context->OutputDims();
    launch.Items(dims.blocks(), dims.w, dims.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Where, GPU, WhereOpencl);

}  // namespace
}  // namespace mace
