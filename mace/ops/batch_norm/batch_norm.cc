// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/batch_norm/batch_norm_schema.h"

#include "mace/kernels/cpu/eltwise/eltwise.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class BatchNormOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    BatchNormAttributes attributes;
    MACE_RETURN_IF_ERROR(attributes.Parse(context->def()));
    activation_ = ActivationParams(attributes);
    eltwise_ = eltwise::KernelsFor(isa());
    activations_ = activation::KernelsFor(isa());
    return CheckFusedActivation(context->def(), activation_);
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *input = context->input(kBatchNormInputInput);
    const Shape &scale = context->input(kBatchNormScaleInput)->shape;
    const Shape &offset = context->input(kBatchNormOffsetInput)->shape;
    if (input->shape.rank() == 0) return Invalid("the input is a scalar");
    const Shape channels = {input->shape.back()};
    if (scale != channels || offset != channels) {
      return Invalid("scale has the shape ", scale.ToString(), ", offset ",
                     offset.ToString(), "; both must have ",
                     channels.ToString(), " for an input of shape ",
                     input->shape.ToString());
    }
    MACE_RETURN_IF_ERROR(SetOutput(context, 0, input->shape, input->data_type));
    context->AllowInPlace(0, 0);
    context->AllowStridedInput(kBatchNormInputInput);
    context->AllowStridedOutput(0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) override {
    const Tensor *input = context->input(kBatchNormInputInput);
    if (input->elements() == 0) return MaceStatus();
    const float *scale = context->input(kBatchNormScaleInput)->As<float>();
    const float *offset = context->input(kBatchNormOffsetInput)->As<float>();
    Tensor *output = context->output(0);
    const float *x = input->As<float>();
    float *y = output->MutableAs<float>();
    const int64_t x_stride = input->RowStride();
    const int64_t y_stride = output->RowStride();
    const int64_t channels = input->shape.back();
    context->thread_pool()->ParallelFor(
        input->elements() / channels, RowGrain(channels),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          // Dense rows are one run, others a run each.
          const bool dense = x_stride == channels && y_stride == channels;
          const int64_t rows = dense ? end - begin : 1;
          const auto count = static_cast<size_t>(channels);
          for (int64_t row = begin; row < end; row += rows) {
            float *out = y + row * y_stride;
            eltwise_->scale_offset(x + row * x_stride, scale, offset, out,
                                   static_cast<size_t>(rows), count);
            if (activation_.kind != activation::Kind::kNone) {
              activations_->run(activation_, out, out,
                                static_cast<size_t>(rows) * count);
            }
          }
        });
    return MaceStatus();
  }

 private:
  activation::Params activation_;
  const eltwise::Kernels *eltwise_ = nullptr;
  const activation::Kernels *activations_ = nullptr;
};

}  // namespace

MACE_REGISTER_OP(BatchNorm, CPU, BatchNormOp);

}  // namespace mace
