// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/activation/activation.h"

#include "mace/ops/activation/activation_schema.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/half_block.h"

namespace mace {

namespace {

class ActivationOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<ActivationAttributes>();
    params_ = ActivationParams(attributes);
    kernels_ = activation::KernelsFor(isa());
    half_ = HalfActivations::Of(context->hints(), isa());
    bf16_kernels_ = activation::Bf16KernelsFor(isa());
    const Tensor *slope = context->constant(kActivationSlopeInput);
    const bool prelu = params_.kind == activation::Kind::kPrelu;
    if (prelu && slope != nullptr && slope->elements() == 1) {
      params_.kind = activation::Kind::kLeakyRelu;
      params_.alpha = slope->As<float>()[0];
    }
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, 0);
    context->AllowStridedInput(kActivationInputInput);
    context->AllowStridedOutput(0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kActivationInputInput);
    Tensor *output = context->output(0);
    const int64_t elements = input->elements();
    if (elements == 0) return MaceStatus();
    if (IsHalf(input->data_type)) {
      RunHalf(context, input, output);
      return MaceStatus();
    }
    const float *x = input->As<float>();
    float *y = output->MutableAs<float>();
    if (input->row_stride != 0 || output->row_stride != 0) {
      RunRows(context, input, output);
      return MaceStatus();
    }
    if (params_.kind != activation::Kind::kPrelu) {
      context->thread_pool()->ParallelFor(
          elements, kElementGrain,
          [&](int64_t begin, int64_t end, int /*thread*/) {
            kernels_->run(params_, x + begin, y + begin,
                          static_cast<size_t>(end - begin));
          });
      return MaceStatus();
    }
    const Tensor *slope = context->input(kActivationSlopeInput);
    const int64_t channels = slope->shape[0];
    context->thread_pool()->ParallelFor(
        elements / channels, RowGrain(channels),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          kernels_->prelu(
              x + begin * channels, slope->As<float>(), y + begin * channels,
              static_cast<size_t>(end - begin), static_cast<size_t>(channels));
        });
    return MaceStatus();
  }

 private:
  // Activations of 16 bits, computed in float. Without slopes, contiguous rows
  // are treated as one.
  void RunHalf(RunContext *context, const Tensor *input, Tensor *output) const {
    const bool prelu = params_.kind == activation::Kind::kPrelu;
    const float *slope =
        prelu ? context->input(kActivationSlopeInput)->As<float>() : nullptr;
    const bool gelu = input->data_type == DataType::kBfloat16 &&
                      bf16_kernels_ != nullptr &&
                      params_.kind == activation::Kind::kGelu;
    const bool dense = input->row_stride == 0 && output->row_stride == 0;
    const int64_t row_length =
        dense && !prelu ? kHalfBlock : input->row_length();
    const int64_t x_stride = dense ? row_length : input->RowStride();
    const int64_t y_stride = dense ? row_length : output->RowStride();
    const int64_t elements = input->elements();
    const uint16_t *x = input->As<uint16_t>();
    uint16_t *y = output->MutableAs<uint16_t>();
    context->thread_pool()->ParallelFor(
        (elements + row_length - 1) / row_length, RowGrain(row_length),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t count =
                std::min(row_length, elements - row * row_length);
            if (gelu) {
              bf16_kernels_->gelu(x + row * x_stride, y + row * y_stride,
                                  static_cast<size_t>(count));
              continue;
            }
            ForHalfBlocks(*half_.convert, x + row * x_stride,
                          y + row * y_stride, count,
                          [&](int64_t at, float *block, size_t n) {
                            if (prelu) {
                              kernels_->prelu(block, slope + at, block, 1, n);
                            } else {
                              kernels_->run(params_, block, block, n);
                            }
                          });
          }
        });
  }

  // Computes strided rows one at a time.
  void RunRows(RunContext *context, const Tensor *input, Tensor *output) const {
    const int64_t channels = input->row_length();
    const float *x = input->As<float>();
    float *y = output->MutableAs<float>();
    const float *slope =
        params_.kind == activation::Kind::kPrelu
            ? context->input(kActivationSlopeInput)->As<float>()
            : nullptr;
    const auto count = static_cast<size_t>(channels);
    context->thread_pool()->ParallelFor(
        input->elements() / channels, RowGrain(channels),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end; ++row) {
            const float *from = x + row * input->RowStride();
            float *to = y + row * output->RowStride();
            if (slope == nullptr) {
              kernels_->run(params_, from, to, count);
            } else {
              kernels_->prelu(from, slope, to, 1, count);
            }
          }
        });
  }

  activation::Params params_;
  const activation::Kernels *kernels_ = nullptr;
  HalfActivations half_;
  const activation::Bf16Kernels *bf16_kernels_ = nullptr;  // may be null
};

}  // namespace

MACE_REGISTER_OP(Activation, CPU, ActivationOp);

}  // namespace mace
