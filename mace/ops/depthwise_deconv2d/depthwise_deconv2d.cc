// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One row of outputs at a time: outputs a stride apart are a row of a depthwise
// convolution of stride 1 (transposed_window.h), which the kernel writes to
// their places.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/depthwise_deconv2d/depthwise_deconv2d_schema.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/bias_pixels.h"
#include "mace/ops/epilogue/filter_constants.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {
namespace {

constexpr size_t Align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }
constexpr ptrdiff_t Index(int64_t x) { return static_cast<ptrdiff_t>(x); }

struct DepthwiseDeconv2dPlan final : public OpPlan {
  int64_t Macs() const override { return macs; }
  ConvPoolArgs Geometry() const override { return geometry; }
  std::string KernelName() const override {
    return empty() ? "none" : "dwconv";
  }

  bool empty() const { return output.Elements() == 0; }

  ConvPoolArgs geometry;
  Shape input;
  Shape output;
  size_t scratch_bytes = 0;  // per thread
  int64_t macs = 0;
};

class DepthwiseDeconv2dOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    MACE_RETURN_IF_ERROR(activation_.Init(context->def(), attributes_, isa()));
    kernels_ = dwconv::KernelsFor(isa());
    const Tensor &filter = *context->constant(kDepthwiseDeconv2dFilterInput);
    const Tensor *bias = context->constant(kDepthwiseDeconv2dBiasInput);
    shape_ = filter.shape;
    const std::string wrong = WrongDepthwiseConstants(filter, bias);
    if (!wrong.empty()) return Invalid(wrong);
    type_ = PackedWeightType(filter);
    for (int i = 0; i < 2; ++i) {
      axes_[i] =
          MakeTransposedAxis(attributes_, i, shape_[static_cast<size_t>(i)]);
      phases_[i] = TransposedPhases(axes_[i]);
    }
    return LayOutFilter(filter, context);
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &input = context->input(kDepthwiseDeconv2dInputInput)->shape;
    if (input.rank() != 4 || input[3] != shape_[2]) {
      return Invalid("input has shape ", input.ToString(), " but the filter ",
                     shape_.ToString(), " takes [N, H, W, ", shape_[2], "]");
    }
    MACE_ASSIGN_OR_RETURN(
        const int64_t height,
        TransposedOutput(name(), "height", axes_[0], input[1]));
    MACE_ASSIGN_OR_RETURN(
        const int64_t width,
        TransposedOutput(name(), "width", axes_[1], input[2]));
    return SetOutput(context, kDepthwiseDeconv2dOutputOutput,
                     {input[0], height, width, shape_[2] * shape_[3]},
                     DataType::kFloat32);
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowStridedOutput(kDepthwiseDeconv2dOutputOutput);
    auto plan = std::make_unique<DepthwiseDeconv2dPlan>();
    plan->geometry = ReportTransposed(axes_[0], axes_[1], shape_);
    plan->input = context->input(kDepthwiseDeconv2dInputInput)->shape;
    plan->output = context->output(kDepthwiseDeconv2dOutputOutput)->shape;
    if (!plan->empty()) {
      plan->macs = plan->input.Elements(0, 3) * shape_.Elements();
      plan->scratch_bytes = ScratchBytes(*plan);
      context->RequestScratch(
          plan->scratch_bytes *
          static_cast<size_t>(context->thread_pool()->thread_count()));
    }
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const auto &plan = context->PlanAs<DepthwiseDeconv2dPlan>();
    if (plan.empty()) return MaceStatus();
    const Tensor *bias = context->input(kDepthwiseDeconv2dBiasInput);
    dwconv::Args args;
    args.type = type_;
    args.input = context->input(kDepthwiseDeconv2dInputInput)->data;
    args.epilogue.bias = bias == nullptr ? nullptr : bias->As<float>();
    activation_.SetClamp(&args.epilogue);
    Tensor *output = context->output(kDepthwiseDeconv2dOutputOutput);
    args.output = output->data;
    args.output_stride = Index(output->RowStride());
    char *scratch = static_cast<char *>(context->scratch());
    context->thread_pool()->ParallelFor(
        plan.output[0] * plan.output[1],
        RowGrain(plan.output[2] * plan.output[3]),
        [&](int64_t begin, int64_t end, int thread) {
          void *own =
              scratch + static_cast<size_t>(thread) * plan.scratch_bytes;
          for (int64_t row = begin; row < end; ++row) {
            RunRow(plan, args, row, own);
          }
        });
    return MaceStatus();
  }

 private:
  // [phases of rows][phases of columns] filters of a convolution.
  MaceStatus LayOutFilter(const Tensor &filter, InitContext *context) {
    const size_t tap_bytes = static_cast<size_t>(shape_[2] * shape_[3]) *
                             DataTypeSize(filter.data_type);
    const size_t bytes = static_cast<size_t>(shape_[0] * shape_[1]) * tap_bytes;
    auto *memory = static_cast<char *>(context->AllocatePrepared(bytes));
    if (memory == nullptr) {
      return OutOfResources("operator '", name(),
                            "' (DepthwiseDeconv2d): no memory for ", bytes,
                            " bytes of its filter in the order of use");
    }
    filter_ = memory;
    tap_bytes_ = tap_bytes;
    for (const TransposedPhase &row : phases_[0]) {
      if (row.taps == 0) continue;
      for (const TransposedPhase &column : phases_[1]) {
        char *to = memory + FilterOffset(row, column);
        for (int64_t i = 0; i < row.taps; ++i) {
          const int64_t h = row.last_tap - i * row.tap_step;
          for (int64_t j = 0; j < column.taps; ++j, to += tap_bytes) {
            const int64_t w = column.last_tap - j * column.tap_step;
            std::memcpy(to,
                        static_cast<const char *>(filter.data) +
                            static_cast<size_t>(h * shape_[1] + w) * tap_bytes,
                        tap_bytes);
          }
        }
      }
    }
    return MaceStatus();
  }

  // Bytes before the filter of a pair of phases.
  size_t FilterOffset(const TransposedPhase &row,
                      const TransposedPhase &column) const {
    return static_cast<size_t>(row.taps_before * shape_[1] +
                               row.taps * column.taps_before) *
           tap_bytes_;
  }

  // Per thread.
  size_t ScratchBytes(const DepthwiseDeconv2dPlan &plan) const {
    size_t most = 0;
    for (const TransposedPhase &row : phases_[0]) {
      if (row.taps == 0) continue;
      for (const TransposedPhase &column : phases_[1]) {
        if (column.taps == 0) continue;
        most = std::max(most, kernels_->scratch_bytes(
                                  RowShape(plan, row, column, 0), type_));
      }
    }
    return Align(most);
  }

  // Number `t` of the rows of a phase, with the columns of a phase.
  dwconv::Shape RowShape(const DepthwiseDeconv2dPlan &plan,
                         const TransposedPhase &row,
                         const TransposedPhase &column,
                         int64_t t) const {
    dwconv::Shape s;
    s.in_h = Index(plan.input[1]);
    s.in_w = Index(plan.input[2]);
    s.in_c = Index(plan.input[3]);
    s.out_c = Index(plan.output[3]);
    s.groups = s.in_c;
    s.kernel_h = Index(row.taps);
    s.kernel_w = Index(column.taps);
    s.dilation_h = Index(row.dilation);
    s.dilation_w = Index(column.dilation);
    s.pad_top = Index(row.pad - t);
    s.pad_left = Index(column.pad);
    s.out_w = Index(PhaseOutputs(column, axes_[1], plan.output[2]));
    return s;
  }

  // Row `row` of the outputs, counted through the batch.
  void RunRow(const DepthwiseDeconv2dPlan &plan,
              const dwconv::Args &all,
              int64_t row,
              void *scratch) const {
    const int64_t h = row % plan.output[1];
    const auto vertical = static_cast<size_t>(h % axes_[0].stride);
    const ptrdiff_t channels = Index(plan.output[3]);
    const ptrdiff_t image =
        Index(row / plan.output[1]) *
        Index(plan.input[1] * plan.input[2] * plan.input[3]);
    const ptrdiff_t step = Index(axes_[1].stride) * all.output_stride;
    float *to = static_cast<float *>(all.output) +
                Index(row * plan.output[2]) * all.output_stride;
    const TransposedPhase &down = phases_[0][vertical];
    for (const TransposedPhase &across : phases_[1]) {
      const ptrdiff_t count =
          Index(PhaseOutputs(across, axes_[1], plan.output[2]));
      if (count == 0) break;
      float *first = to + Index(across.first) * all.output_stride;
      if (down.taps == 0 || across.taps == 0) {
        FillWithBias(activation_, all.epilogue.bias, count, channels, step,
                     first);
        continue;
      }
      dwconv::Args args = all;
      args.shape = RowShape(plan, down, across, h / axes_[0].stride);
      args.filter = filter_ + FilterOffset(down, across);
      args.input = static_cast<const float *>(all.input) + image;
      args.output = first;
      args.output_stride = step;
      kernels_->run(args, {0, 1, 0, args.shape.in_c}, scratch);
    }
    activation_.Apply(to, Index(plan.output[2]), channels, all.output_stride);
  }

  DepthwiseDeconv2dAttributes attributes_;
  FusedActivation activation_;
  const dwconv::Kernels *kernels_ = nullptr;
  Shape shape_;  // of the filter
  gemm::WeightType type_ = gemm::WeightType::kF32;
  TransposedAxis axes_[2];
  std::vector<TransposedPhase> phases_[2];
  size_t tap_bytes_ = 0;          // of the filter
  const char *filter_ = nullptr;  // [rows' phases][columns' phases][taps]
};

MACE_REGISTER_OP(DepthwiseDeconv2d, CPU, DepthwiseDeconv2dOp);

}  // namespace
}  // namespace mace
