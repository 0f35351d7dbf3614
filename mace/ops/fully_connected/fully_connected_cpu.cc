// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"

namespace mace {
namespace {

class FullyConnectedOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<FullyConnectedAttributes>();
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        arithmetic_,
        ChooseArithmetic(*context, kFullyConnectedWeightsInput, isa()));
    type_ = float_type();
    strategies_.Init(isa(), context->hints().winograd);
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kFullyConnectedInputInput)->shape;
    const Tensor &weights = *context->input(kFullyConnectedWeightsInput);
    const int64_t rows = input.Elements(0, input.rank() - 1);
    context->AllowStridedInput(kFullyConnectedResidualInput);
    conv::Request request;
    request.shape = conv::MatrixShape(static_cast<ptrdiff_t>(rows),
                                      static_cast<ptrdiff_t>(weights.shape[1]),
                                      static_cast<ptrdiff_t>(weights.shape[0]));
    request.arithmetic = arithmetic_;
    request.results = ElementOf(type_);
    ConvOpPlan::Settings settings;
    settings.ports = {kFullyConnectedInputInput, kFullyConnectedWeightsInput,
                      kFullyConnectedBiasInput, kFullyConnectedResidualInput};
    settings.images = false;
    settings.macs = rows * weights.shape.Elements();
    settings.activation = &activation_;
    return ConvOpPlan::Make(settings, strategies_, request, context);
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  FullyConnectedAttributes attributes_;
  FusedActivation activation_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  conv::Strategies strategies_;
  DataType type_ = DataType::kFloat32;  // of activations
};

MACE_REGISTER_OP(FullyConnected, CPU, FullyConnectedOp);

}  // namespace
}  // namespace mace
