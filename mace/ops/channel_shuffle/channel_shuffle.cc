// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/transpose/transpose.h"
#include "mace/ops/channel_shuffle/channel_shuffle_schema.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class ChannelShuffleOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = transpose::KernelsFor(isa());
    return attributes_.Parse(context->def());
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *input = context->input(kChannelShuffleInputInput);
    if (input->shape.rank() != 4 || input->shape[3] % attributes_.groups != 0) {
      return Invalid("takes [N, H, W, C] with C divisible by groups = ",
                     attributes_.groups, ", not ", input->shape.ToString());
    }
    context->AllowStridedInput(kChannelShuffleInputInput);
    context->AllowStridedOutput(0);
    return SetOutput(context, 0, input->shape, input->data_type);
  }

  MaceStatus Run(RunContext *context) override {
    const Tensor *input = context->input(kChannelShuffleInputInput);
    const int64_t channels = input->shape[3];
    const int64_t pixels = input->shape.Elements(0, 3);
    const auto groups = static_cast<size_t>(attributes_.groups);
    const size_t group_size = static_cast<size_t>(channels) / groups;
    const auto size = static_cast<int64_t>(DataTypeSize(input->data_type));
    const uint8_t *x = input->As<uint8_t>();
    uint8_t *y = context->output(0)->MutableAs<uint8_t>();
    const int64_t x_stride = input->RowStride() * size;
    const int64_t y_stride = context->output(0)->RowStride() * size;
    const auto matrix = size == 2 ? kernels_->matrix16 : kernels_->matrix32;
    if (channels == 0) return MaceStatus();
    context->thread_pool()->ParallelFor(
        pixels, RowGrain(channels),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t i = begin; i < end; ++i) {
            matrix(x + i * x_stride, group_size, y + i * y_stride, groups,
                   groups, group_size);
          }
        });
    return MaceStatus();
  }

  HalfUse half_use() const override { return HalfUse::kFollows; }

 private:
  ChannelShuffleAttributes attributes_;
  const transpose::Kernels *kernels_ = nullptr;
};

}  // namespace

MACE_REGISTER_OP(ChannelShuffle, CPU, ChannelShuffleOp);

}  // namespace mace
