// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>

#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/ops/conv2d/conv2d_schema.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

conv::Args ArgsFor(const RunContext &context,
                   const FusedActivation &activation) {
  ConvTensors tensors;
  tensors.input = context.input(kConv2DInputInput);
  tensors.weights = context.input(kConv2DFilterInput);
  tensors.bias = context.input(kConv2DBiasInput);
  tensors.residual = context.input(kConv2DResidualInput);
  tensors.output = context.output(kConv2DOutputOutput);
  return MakeConvArgs(tensors, activation);
}

class Conv2DPlan final : public OpPlan, private RowBands {
 public:
  // `activation` belongs to the operator, which outlives the plan. `plan` is
  // null where the output has no elements.
  Conv2DPlan(const conv::Shape &shape,
             const ConvPoolArgs &geometry,
             int64_t macs,
             const FusedActivation *activation,
             std::unique_ptr<conv::Plan> plan)
      : shape_(shape),
        geometry_(geometry),
        macs_(macs),
        activation_(*activation),
        plan_(std::move(plan)) {}

  void Run(RunContext *context) const {
    if (plan_ == nullptr) return;
    plan_->Run(ArgsFor(*context, activation_), activation_.second_pass(),
               context->thread_pool(), context->scratch());
  }

  const RowBands *row_bands() const override {
    return plan_ != nullptr && plan_->rows() != nullptr ? this : nullptr;
  }
  RowRange InputRows(const RowRange &output) const override {
    return Rows().InputRows(output);
  }
  size_t BandScratchBytes(int64_t rows) const override {
    return plan_->rows()->RowScratchBytes(static_cast<ptrdiff_t>(rows));
  }
  void RunBand(const RunContext &context, const BandRun &run) const override {
    const RowWindow window = Rows();
    const RowRange input = window.InputRows(run.rows);
    conv::ImageRows rows;
    rows.in_rows = static_cast<ptrdiff_t>(input.count());
    rows.out_rows = static_cast<ptrdiff_t>(run.rows.count());
    rows.pad_top =
        static_cast<ptrdiff_t>(input.begin - window.Top(run.rows.begin));
    conv::Args args = ArgsFor(context, activation_);
    args.input = run.input;
    args.output = run.output;
    args.output_stride = static_cast<size_t>(run.output_stride);
    if (args.epilogue.residual != nullptr) {
      const auto pixel = static_cast<size_t>(
          (run.image * shape_.out_h + run.rows.begin) * shape_.out_w);
      const DataType type = context.output(kConv2DOutputOutput)->data_type;
      args.epilogue.residual =
          static_cast<const char *>(args.epilogue.residual) +
          pixel * args.epilogue.residual_stride *
              gemm::ElementBytes(ElementOf(type));
    }
    plan_->rows()->RunRows(rows, args, activation_.second_pass(), run.scratch);
  }

  int64_t Macs() const override { return macs_; }
  ConvPoolArgs Geometry() const override { return geometry_; }
  std::string KernelName() const override {
    return plan_ == nullptr ? "none" : plan_->Name();
  }

 private:
  RowWindow Rows() const {
    return {shape_.kernel_h, shape_.stride_h, shape_.dilation_h, shape_.pad_top,
            shape_.in_h};
  }

  const conv::Shape shape_;
  const ConvPoolArgs geometry_;
  const int64_t macs_;
  const FusedActivation &activation_;
  const std::unique_ptr<conv::Plan> plan_;
};

class Conv2DOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    MACE_ASSIGN_OR_RETURN(
        arithmetic_, ChooseArithmetic(*context, kConv2DFilterInput, isa()));
    type_ = ActivationType(*context, *arithmetic_, isa());
    strategies_[0] = conv::MakeWinograd(isa(), context->hints().winograd);
    strategies_[1] = conv::MakeSmallGroups(isa());
    strategies_[2] = conv::MakeDirect();
    const std::string wrong = WrongConvConstants(
        *context->constant(kConv2DFilterInput),
        context->constant(kConv2DBiasInput), attributes_.groups);
    return wrong.empty() ? MaceStatus() : Invalid(wrong);
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &input = context->input(kConv2DInputInput)->shape;
    const Shape &filter = context->input(kConv2DFilterInput)->shape;
    if (input.rank() != 4 || input[3] != filter[3] * attributes_.groups) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     filter.ToString(), " with ", attributes_.groups,
                     " group(s) takes [N, H, W, ",
                     filter[3] * attributes_.groups, "]");
    }
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window, Window(input, filter));
    const Shape output{input[0], window.output[0], window.output[1], filter[0]};
    MACE_RETURN_IF_ERROR(
        SetOutput(context, kConv2DOutputOutput, output, DataType::kFloat32));
    const Tensor *residual = context->input(kConv2DResidualInput);
    if (residual != nullptr && residual->shape != output) {
      return Invalid("residual has shape ", residual->shape.ToString(),
                     " but the output ", output.ToString());
    }
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &filter = *context->input(kConv2DFilterInput);
    const Shape &input = context->input(kConv2DInputInput)->shape;
    const Shape &output = context->output(kConv2DOutputOutput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                          Window(input, filter.shape));
    context->AllowStridedOutput(kConv2DOutputOutput);
    context->AllowStridedInput(kConv2DResidualInput);
    const conv::Shape shape = ShapeOf(input, filter.shape, output, window);
    std::unique_ptr<conv::Plan> plan;
    int64_t macs = 0;
    if (output.Elements() > 0) {
      macs = output.Elements() * filter.shape.Elements(1, 4);
      plan = PlanFor(*context, shape);
      context->RequestScratch(
          plan->ScratchBytes(context->thread_pool()->thread_count()));
      if (plan->PreparedBytes() > 0) {
        conv::Plan *taker = plan.get();
        context->RequestPrepared(plan->PreparedBytes(), [taker](void *memory) {
          return taker->TakePrepared(memory);
        });
      }
      if (context->input(kConv2DResidualInput) != nullptr &&
          plan->ResidualMayBeOutput()) {
        context->AllowInPlace(kConv2DOutputOutput, kConv2DResidualInput);
      }
    }
    const ConvPoolArgs geometry =
        ReportWindow(Spec(filter.shape), window, filter.shape);
    context->Keep(std::make_unique<Conv2DPlan>(shape, geometry, macs,
                                               &activation_, std::move(plan)));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<Conv2DPlan>().Run(context);
    return MaceStatus();
  }

  HalfUse half_use() const override {
    return type_ != DataType::kFloat32 ? HalfUse::kComputes : HalfUse::kNone;
  }
  // Narrows it where it copies the image anyway.
  bool TakesFloat(size_t input) const override {
    return type_ == DataType::kBfloat16 && input == kConv2DInputInput;
  }

 private:
  WindowSpec Spec(const Shape &filter) const {
    return MakeWindowSpec(attributes_, filter[1], filter[2]);
  }
  Result<WindowGeometry> Window(const Shape &input, const Shape &filter) const {
    return ComputeWindow(name(), Spec(filter), input[1], input[2]);
  }

  conv::Shape ShapeOf(const Shape &input,
                      const Shape &filter,
                      const Shape &output,
                      const WindowGeometry &window) const {
    const auto index = [](int64_t x) { return static_cast<ptrdiff_t>(x); };
    conv::Shape s;
    s.batch = index(input[0]);
    s.in_h = index(input[1]);
    s.in_w = index(input[2]);
    s.in_c = index(input[3]);
    s.kernel_h = index(filter[1]);
    s.kernel_w = index(filter[2]);
    s.stride_h = index(attributes_.strides[0]);
    s.stride_w = index(attributes_.strides[1]);
    s.dilation_h = index(attributes_.dilations[0]);
    s.dilation_w = index(attributes_.dilations[1]);
    s.pad_top = index(window.pad_before[0]);
    s.pad_left = index(window.pad_before[1]);
    s.out_h = index(output[1]);
    s.out_w = index(output[2]);
    s.out_c = index(output[3]);
    s.groups = index(attributes_.groups);
    return s;
  }

  std::unique_ptr<conv::Plan> PlanFor(const PlanContext &context,
                                      const conv::Shape &shape) const {
    const Tensor &filter = *context.input(kConv2DFilterInput);
    conv::Request request;
    request.shape = shape;
    request.filter = filter.data;
    request.weights = PackedWeightType(filter);
    request.arithmetic = arithmetic_;
    request.image = ElementOf(context.input(kConv2DInputInput)->data_type);
    request.results = ElementOf(type_);
    request.residual = context.input(kConv2DResidualInput) != nullptr;
    request.threads = context.thread_pool()->thread_count();
    for (const auto &strategy : strategies_) {
      std::unique_ptr<conv::Plan> plan = strategy->MakePlan(request);
      if (plan != nullptr) return plan;
    }
    return nullptr;  // never: the direct way takes everything
  }

  Conv2DAttributes attributes_;
  FusedActivation activation_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  std::unique_ptr<conv::Strategy> strategies_[3];  // in order of preference
  DataType type_ = DataType::kFloat32;             // of activations
};

MACE_REGISTER_OP(Conv2D, CPU, Conv2DOp);

}  // namespace
}  // namespace mace
