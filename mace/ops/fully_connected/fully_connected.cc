// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/conv_op_plan.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"

namespace mace {
namespace {

class FullyConnectedOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        arithmetic_,
        ChooseArithmetic(*context, kFullyConnectedWeightsInput, isa()));
    type_ = float_type();
    strategies_.Init(isa(), context->hints().winograd);
    const Tensor &weights = *context->constant(kFullyConnectedWeightsInput);
    const Tensor *bias = context->constant(kFullyConnectedBiasInput);
    if (weights.shape.rank() != 2 || weights.shape.Elements() == 0 ||
        weights.groups != 1) {
      return Invalid("weights have shape ", weights.shape.ToString(),
                     " packed for ", weights.groups,
                     " group(s); expected [O, K], none of them 0, packed "
                     "for 1 group");
    }
    if (bias != nullptr && bias->shape != Shape{weights.shape[0]}) {
      return Invalid("bias has shape ", bias->shape.ToString(), "; expected [",
                     weights.shape[0], "]");
    }
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &input = context->input(kFullyConnectedInputInput)->shape;
    const Tensor &weights = *context->input(kFullyConnectedWeightsInput);
    if (input.rank() == 0 || input.back() != weights.shape[1]) {
      return Invalid("input has shape ", input.ToString(), " but the weights ",
                     weights.shape.ToString(), " take [..., ", weights.shape[1],
                     "]");
    }
    Shape output = input;
    output[output.rank() - 1] = weights.shape[0];
    return SetOutput(context, kFullyConnectedOutputOutput, output,
                     DataType::kFloat32);
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kFullyConnectedInputInput)->shape;
    const Tensor &weights = *context->input(kFullyConnectedWeightsInput);
    const int64_t rows = input.Elements(0, input.rank() - 1);
    conv::Request request;
    request.shape = conv::MatrixShape(static_cast<ptrdiff_t>(rows),
                                      static_cast<ptrdiff_t>(weights.shape[1]),
                                      static_cast<ptrdiff_t>(weights.shape[0]));
    request.arithmetic = arithmetic_;
    request.results = ElementOf(type_);
    ConvOpPlan::Settings settings;
    settings.ports = {kFullyConnectedInputInput, kFullyConnectedWeightsInput,
                      kFullyConnectedBiasInput};
    settings.images = false;
    settings.macs = rows * weights.shape.Elements();
    settings.activation = &activation_;
    ConvOpPlan::Make(settings, strategies_, request, context);
    return MaceStatus();
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
