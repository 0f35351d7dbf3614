// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// Element `n` of a constant with one number for each column, or for all.
template <typename T>
T ColumnOf(const Tensor &values, size_t n) {
  return values.As<T>()[values.elements() == 1 ? 0 : n];
}

// The values of the columns, for whole panels.
class Columns {
 public:
  struct Constants {
    const Tensor *weights = nullptr;  // [K, N], packed
    const Tensor *scales = nullptr;
    const Tensor *zeros = nullptr;  // may be null
    const Tensor *bias = nullptr;   // may be null
  };
  // Constants of other shapes than the operator's leave it empty.
  void Init(const Constants &from, CpuIsa isa) {
    const Shape &shape = from.weights->shape;
    if (shape.rank() != 2 || shape.Elements() == 0) return;
    const auto count = static_cast<size_t>(shape[1]);
    for (const Tensor *of : {from.scales, from.zeros, from.bias}) {
      if (of != nullptr && of->elements() != shape[1] && of->elements() != 1) {
        return;
      }
    }
    const auto depth = static_cast<size_t>(shape[0]);
    const size_t panels = gemm::PanelCount(count);
    const size_t padded = panels * gemm::kPanelColumns;
    const size_t bytes = panels * gemm::PanelBytes(gemm::WeightType::kI8Fours,
                                                   gemm::DepthInFours(depth));
    const auto *packed = from.weights->As<int8_t>();
    const auto *sums = reinterpret_cast<const uint32_t *>(packed + bytes);
    scales_.assign(padded, 0.0f);
    bias_.assign(padded, 0.0f);
    for (size_t n = 0; n < count; ++n) {
      scales_[n] = ColumnOf<float>(*from.scales, n);
      if (from.bias != nullptr) bias_[n] = ColumnOf<float>(*from.bias, n);
    }
    values_.column_scales = scales_.data();
    values_.bias = bias_.data();
    values_.column_sums = sums;
    if (from.zeros != nullptr) {
      SetZeros(*from.zeros, sums, static_cast<uint32_t>(depth), count);
    }
    values_.least_weight = conv::LeastWeight(isa, packed, bytes);
  }

  const gemm::Dequantization &values() const { return values_; }

 private:
  void SetZeros(const Tensor &zeros,
                const uint32_t *sums,
                uint32_t depth,
                size_t count) {
    sums_.assign(scales_.size(), 0);
    zeros_.assign(scales_.size(), 0);
    for (size_t n = 0; n < count; ++n) {
      zeros_[n] = static_cast<uint32_t>(int32_t{ColumnOf<int8_t>(zeros, n)});
      sums_[n] = sums[n] - depth * zeros_[n];
    }
    values_.column_sums = sums_.data();
    values_.column_zeros = zeros_.data();
  }

  std::vector<float> scales_;
  std::vector<float> bias_;
  // Empty without zero points: then the sums are those of the model file.
  std::vector<uint32_t> sums_;
  std::vector<uint32_t> zeros_;
  gemm::Dequantization values_;
};

class DynamicQuantizeMatMulOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes =
        context->AttributesAs<DynamicQuantizeMatMulAttributes>();
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes, isa()));
    range_ = attributes.range == DynamicQuantizeMatMulRange::TENSOR
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
    columns_.Init(
        {&weights, context->constant(kDynamicQuantizeMatMulWeightScalesInput),
         context->constant(kDynamicQuantizeMatMulWeightZeroPointsInput),
         context->constant(kDynamicQuantizeMatMulBiasInput)},
        isa());
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
  Columns columns_;
};

MACE_REGISTER_OP(DynamicQuantizeMatMul, CPU, DynamicQuantizeMatMulOp);

}  // namespace
}  // namespace mace
