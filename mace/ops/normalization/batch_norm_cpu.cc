// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/normalization/batch_norm_schema.h"

#include <memory>

#include "mace/kernels/cpu/eltwise/eltwise.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"

namespace mace {

namespace {

class BatchNormOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<BatchNormAttributes>();
    activation_ = ActivationParams(attributes);
    eltwise_ = eltwise::KernelsFor(isa());
    activations_ = activation::KernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &shape = context->input(kBatchNormInputInput)->shape;
    if (shape.rank() == 4 && shape.Elements() > 0) {
      context->Keep(std::make_unique<InBands>(this));
    }
    context->AllowInPlace(0, 0);
    context->AllowStridedInput(kBatchNormInputInput);
    context->AllowStridedOutput(0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kBatchNormInputInput);
    if (input->elements() == 0) return MaceStatus();
    Tensor *output = context->output(0);
    const Pixels<const float> x = {input->As<float>(), input->RowStride()};
    const Pixels<float> y = {output->MutableAs<float>(), output->RowStride()};
    const int64_t channels = input->shape.back();
    context->thread_pool()->ParallelFor(
        input->elements() / channels, RowGrain(channels),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          Compute(*context, x, y, begin, end);
        });
    return MaceStatus();
  }

 private:
  // The plan for images, which can run in bands of their rows.
  class InBands final : public OpPlan, private RowBands {
   public:
    explicit InBands(const BatchNormOp *op) : op_(op) {}
    const RowBands *row_bands() const override { return this; }

   private:
    RowRange InputRows(const RowRange &output) const override { return output; }
    size_t BandScratchBytes(int64_t) const override { return 0; }
    void RunBand(const RunContext &context, const BandRun &run) const override {
      const Shape &shape = context.input(kBatchNormInputInput)->shape;
      op_->Compute(context,
                   {static_cast<const float *>(run.input), run.input_stride},
                   {static_cast<float *>(run.output), run.output_stride}, 0,
                   run.rows.count() * shape[2]);
    }

    const BatchNormOp *op_;
  };

  void Compute(const RunContext &context,
               const Pixels<const float> &x,
               const Pixels<float> &y,
               int64_t begin,
               int64_t end) const {
    const float *scale = context.input(kBatchNormScaleInput)->As<float>();
    const float *offset = context.input(kBatchNormOffsetInput)->As<float>();
    const int64_t channels = context.input(kBatchNormInputInput)->shape.back();
    // Dense pixels form one run; otherwise each pixel is a run.
    const bool dense = x.stride == channels && y.stride == channels;
    const int64_t pixels = dense ? end - begin : 1;
    const auto count = static_cast<size_t>(channels);
    for (int64_t pixel = begin; pixel < end; pixel += pixels) {
      float *out = y.data + pixel * y.stride;
      eltwise_->scale_offset(x.data + pixel * x.stride, scale, offset, out,
                             static_cast<size_t>(pixels), count);
      if (activation_.kind != activation::Kind::kNone) {
        activations_->run(activation_, out, out,
                          static_cast<size_t>(pixels) * count);
      }
    }
  }

  activation::Params activation_;
  const eltwise::Kernels *eltwise_ = nullptr;
  const activation::Kernels *activations_ = nullptr;
};

}  // namespace

MACE_REGISTER_OP(BatchNorm, CPU, BatchNormOp);

}  // namespace mace
