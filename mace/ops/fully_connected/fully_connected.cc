// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/conv/direct_run.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"

namespace mace {
namespace {

struct FullyConnectedPlan final : public OpPlan {
  int64_t Macs() const override { return macs; }
  std::string KernelName() const override {
    return macs == 0 ? "none" : conv::DirectName(direct);
  }

  conv::DirectPlan direct;  // unless there is nothing to multiply
  int64_t macs = 0;
};

class FullyConnectedOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        arithmetic_,
        ChooseArithmetic(*context, kFullyConnectedWeightsInput, isa()));
    type_ = ActivationType(*context, *arithmetic_, isa());
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
    const Tensor &input = *context->input(kFullyConnectedInputInput);
    const Tensor &weights = *context->input(kFullyConnectedWeightsInput);
    const int64_t rows = input.shape.Elements(0, input.shape.rank() - 1);
    auto plan = std::make_unique<FullyConnectedPlan>();
    plan->macs = rows * weights.shape.Elements();
    if (plan->macs > 0) {
      const int threads = context->thread_pool()->thread_count();
      conv::DirectRequest request;
      request.shape =
          conv::MatrixShape(static_cast<ptrdiff_t>(rows),
                            static_cast<ptrdiff_t>(weights.shape[1]),
                            static_cast<ptrdiff_t>(weights.shape[0]));
      request.w_type = PackedWeightType(weights);
      request.arithmetic = arithmetic_;
      request.image = ElementOf(input.data_type);
      request.results = ElementOf(type_);
      request.threads = threads;
      plan->direct = conv::PlanDirect(request);
      context->RequestScratch(conv::DirectScratchBytes(plan->direct, threads));
    }
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const auto &plan = context->PlanAs<FullyConnectedPlan>();
    if (plan.macs == 0) return MaceStatus();
    ConvTensors tensors;
    tensors.input = context->input(kFullyConnectedInputInput);
    tensors.weights = context->input(kFullyConnectedWeightsInput);
    tensors.bias = context->input(kFullyConnectedBiasInput);
    tensors.output = context->output(kFullyConnectedOutputOutput);
    conv::RunDirect(plan.direct, MakeConvArgs(tensors, activation_),
                    activation_.second_pass(), context->thread_pool(),
                    context->scratch());
    return MaceStatus();
  }

  HalfUse half_use() const override {
    return type_ != DataType::kFloat32 ? HalfUse::kComputes : HalfUse::kNone;
  }
  // Narrows it where it copies the image anyway.
  bool TakesFloat(size_t input) const override {
    return type_ == DataType::kBfloat16 && input == kFullyConnectedInputInput;
  }

 private:
  FullyConnectedAttributes attributes_;
  FusedActivation activation_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  DataType type_ = DataType::kFloat32;  // of activations
};

MACE_REGISTER_OP(FullyConnected, CPU, FullyConnectedOp);

}  // namespace
}  // namespace mace
