// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/deconv2d/column_gemm.h"
#include "mace/ops/deconv2d/deconv2d_schema.h"
#include "mace/ops/deconv2d/phase_gemm.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {
namespace {

struct Deconv2DPlan final : public OpPlan {
  int64_t Macs() const override { return macs; }
  ConvPoolArgs Geometry() const override { return geometry; }
  std::string KernelName() const override {
    if (empty) return "none";
    if (!columns.strips.empty()) return "gemm and col2im";
    return MakeString("gemm in ", phases.phases.size(), " phase(s)");
  }

  ConvPoolArgs geometry;
  int64_t macs = 0;
  bool empty = false;        // no outputs; otherwise one of these two is set:
  ColumnGemm::Plan columns;  // has strips then
  PhaseGemm::Plan phases;
};

class Deconv2DOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        const gemm::Arithmetic *kernels,
        ChooseFloatArithmetic(*context, kDeconv2DFilterInput, isa()));
    const Tensor &filter = *context->constant(kDeconv2DFilterInput);
    const std::string wrong = WrongConvConstants(
        filter, context->constant(kDeconv2DBiasInput), attributes_.groups);
    if (!wrong.empty()) return Invalid(wrong);
    filter_shape_ = filter.shape;
    for (int i = 0; i < 2; ++i) {
      axes_[i] = MakeTransposedAxis(attributes_, i,
                                    filter.shape[static_cast<size_t>(i) + 1]);
    }
    by_columns_ = ColumnGemm::Pays(filter, axes_[0], axes_[1]);
    if (by_columns_) {
      columns_.Init(filter, axes_[0], axes_[1], kernels, isa());
    } else {
      phases_.Init(filter, axes_[0], axes_[1], kernels);
    }
    const size_t bytes =
        by_columns_ ? columns_.ConstantBytes() : phases_.FilterBytes();
    void *memory = context->AllocatePrepared(bytes);
    if (memory == nullptr) {
      return OutOfResources("operator '", name(),
                            "' (Deconv2D): no memory for ", bytes,
                            " bytes of its filter in the order of use");
    }
    if (by_columns_) {
      const Tensor *bias = context->constant(kDeconv2DBiasInput);
      columns_.LayOut(filter, bias == nullptr ? nullptr : bias->As<float>(),
                      memory);
    } else {
      phases_.LayOutFilter(filter, memory);
    }
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &input = context->input(kDeconv2DInputInput)->shape;
    if (input.rank() != 4 ||
        input[3] != filter_shape_[3] * attributes_.groups) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     filter_shape_.ToString(), " with ", attributes_.groups,
                     " group(s) takes [N, H, W, ",
                     filter_shape_[3] * attributes_.groups, "]");
    }
    MACE_ASSIGN_OR_RETURN(
        const int64_t height,
        TransposedOutput(name(), "height", axes_[0], input[1]));
    MACE_ASSIGN_OR_RETURN(
        const int64_t width,
        TransposedOutput(name(), "width", axes_[1], input[2]));
    return SetOutput(context, kDeconv2DOutputOutput,
                     {input[0], height, width, filter_shape_[0]},
                     DataType::kFloat32);
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kDeconv2DInputInput)->shape;
    const Shape &output = context->output(kDeconv2DOutputOutput)->shape;
    const int threads = context->thread_pool()->thread_count();
    // Columns are added up to several pixels at a time, which lie side by side.
    if (!by_columns_) context->AllowStridedOutput(kDeconv2DOutputOutput);
    auto plan = std::make_unique<Deconv2DPlan>();
    plan->geometry = ReportTransposed(axes_[0], axes_[1], filter_shape_);
    plan->empty = output.Elements() == 0;
    if (!plan->empty) {
      plan->macs = input.Elements(0, 3) * filter_shape_.Elements();
      if (by_columns_) {
        columns_.FillPlan(input, output, threads, &plan->columns);
        context->RequestScratch(columns_.ScratchBytes(plan->columns, threads));
      } else {
        phases_.FillPlan(input, output, threads, &plan->phases);
        context->RequestScratch(PhaseGemm::ScratchBytes(plan->phases, threads));
      }
    }
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const auto &plan = context->PlanAs<Deconv2DPlan>();
    if (plan.empty) return MaceStatus();
    ConvTensors tensors;
    tensors.input = context->input(kDeconv2DInputInput);
    tensors.output = context->output(kDeconv2DOutputOutput);
    if (by_columns_) {
      columns_.Run(plan.columns, tensors.input->As<float>(),
                   tensors.output->MutableAs<float>(), activation_,
                   context->thread_pool(), context->scratch());
      return MaceStatus();
    }
    tensors.weights = context->input(kDeconv2DFilterInput);
    tensors.bias = context->input(kDeconv2DBiasInput);
    phases_.Run(plan.phases, MakeConvArgs(tensors, activation_), activation_,
                context->thread_pool(), context->scratch());
    return MaceStatus();
  }

 private:
  Deconv2DAttributes attributes_;
  FusedActivation activation_;
  Shape filter_shape_;
  TransposedAxis axes_[2];
  bool by_columns_ = false;
  ColumnGemm columns_;  // one of these two, as by_columns_ says
  PhaseGemm phases_;
};

MACE_REGISTER_OP(Deconv2D, CPU, Deconv2DOp);

}  // namespace
}  // namespace mace
