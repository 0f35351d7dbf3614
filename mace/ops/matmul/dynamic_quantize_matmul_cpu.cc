// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "mace/core/base/missing_part.h"
#include "mace/kernels/cpu/conv/dynamic_product.h"
#include "mace/kernels/cpu/gemm/dynamic_gemm.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/matmul/dynamic_quantize_matmul_schema.h"

namespace mace {
namespace {

class DynamicQuantizeMatMulPlan final : public OpPlan {
 public:
  DynamicQuantizeMatMulPlan(std::unique_ptr<conv::Plan> plan, int64_t macs)
      : plan_(std::move(plan)), macs_(macs) {}

  const conv::Plan &product() const { return *plan_; }
  int64_t Macs() const override { return macs_; }
  std::string KernelName() const override { return plan_->Name(); }

 private:
  const std::unique_ptr<conv::Plan> plan_;
  const int64_t macs_;
};

template <typename T>
conv::NumbersOfColumns<T> NumbersOf(const Tensor *tensor) {
  if (tensor == nullptr) return {};
  return {tensor->As<T>(), static_cast<size_t>(tensor->elements())};
}

class DynamicQuantizeMatMulOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes =
        context->AttributesAs<DynamicQuantizeMatMulAttributes>();
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes, isa()));
    range_ = attributes.range == QuantizedRange::TENSOR
                 ? conv::QuantizedRange::kTensor
                 : conv::QuantizedRange::kRow;
    arithmetic_ = gemm::ArithmeticFor(gemm::ArithmeticKind::kDynamic, isa());
    if (arithmetic_ == nullptr) {
      return NotSupported(kBuiltWithout,
                          "the kernels for products that each run quantizes",
                          kBuildForThisModel);
    }
    const Tensor &weights =
        *context->constant(kDynamicQuantizeMatMulWeightsInput);
    if (!IsPacked(weights.layout)) {
      return Invalid("the weights are not packed; convert the model again");
    }
    if (weights.shape.rank() != 2) return MaceStatus();
    conv::DynamicColumns::Constants constants;
    constants.packed = weights.As<int8_t>();
    constants.depth = static_cast<size_t>(weights.shape[0]);
    constants.columns = static_cast<size_t>(weights.shape[1]);
    constants.scales = NumbersOf<float>(
        context->constant(kDynamicQuantizeMatMulWeightScalesInput));
    constants.zeros = NumbersOf<int8_t>(
        context->constant(kDynamicQuantizeMatMulWeightZeroPointsInput));
    constants.bias =
        NumbersOf<float>(context->constant(kDynamicQuantizeMatMulBiasInput));
    columns_.Init(constants, isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &output = *context->output(kDynamicQuantizeMatMulOutputOutput);
    if (output.elements() == 0) return MaceStatus();
    const Shape &weights =
        context->input(kDynamicQuantizeMatMulWeightsInput)->shape;
    const int threads = context->thread_pool()->thread_count();
    const int64_t rows = output.elements() / weights[1];
    conv::DynamicRequest request;
    request.rows = static_cast<ptrdiff_t>(rows);
    request.depth = static_cast<ptrdiff_t>(weights[0]);
    request.columns = static_cast<ptrdiff_t>(weights[1]);
    request.range = range_;
    request.isa = isa();
    request.arithmetic = arithmetic_;
    request.columns_of = &columns_.values();
    request.threads = threads;
    auto plan = conv::MakeDynamicProduct(request);
    context->RequestScratch(plan->ScratchBytes(threads));
    context->AllowStridedInput(kDynamicQuantizeMatMulResidualInput);
    if (context->input(kDynamicQuantizeMatMulResidualInput) != nullptr) {
      context->AllowInPlace(kDynamicQuantizeMatMulOutputOutput,
                            kDynamicQuantizeMatMulResidualInput);
    }
    context->Keep(std::make_unique<DynamicQuantizeMatMulPlan>(
        std::move(plan), rows * weights.Elements()));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    if (context->plan() == nullptr) return MaceStatus();
    ConvTensors tensors;
    tensors.input = context->input(kDynamicQuantizeMatMulInputInput);
    tensors.weights = context->input(kDynamicQuantizeMatMulWeightsInput);
    tensors.residual = context->input(kDynamicQuantizeMatMulResidualInput);
    tensors.output = context->output(kDynamicQuantizeMatMulOutputOutput);
    context->PlanAs<DynamicQuantizeMatMulPlan>().product().Run(
        MakeConvArgs(tensors, activation_), activation_.second_pass(),
        context->thread_pool(), context->scratch());
    return MaceStatus();
  }

 private:
  FusedActivation activation_;
  conv::QuantizedRange range_ = conv::QuantizedRange::kRow;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  conv::DynamicColumns columns_;
};

MACE_REGISTER_OP(DynamicQuantizeMatMul, CPU, DynamicQuantizeMatMulOp);

}  // namespace
}  // namespace mace
