// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/row_bands.h"
#include "mace/kernels/cpu/transpose/transpose.h"
#include "mace/ops/channel_shuffle/channel_shuffle_schema.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class ChannelShuffleOp final : public CpuOp, private RowBands {
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
    shape_ = input->shape;
    context->AllowStridedInput(kChannelShuffleInputInput);
    context->AllowStridedOutput(0);
    return SetOutput(context, 0, input->shape, input->data_type);
  }

  MaceStatus Run(RunContext *context) override {
    const Tensor *input = context->input(kChannelShuffleInputInput);
    Tensor *output = context->output(0);
    if (input->elements() == 0) return MaceStatus();
    const Pixels pixels = {input->data, input->RowStride(), output->data,
                           output->RowStride(), DataTypeSize(input->data_type)};
    context->thread_pool()->ParallelFor(
        shape_.Elements(0, 3), RowGrain(shape_[3]),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          Shuffle(pixels, begin, end);
        });
    return MaceStatus();
  }

  const RowBands *row_bands() const override {
    return shape_.Elements() > 0 ? this : nullptr;
  }
  RowRange InputRows(const RowRange &output) const override { return output; }
  size_t BandScratchBytes(int64_t) const override { return 0; }
  void RunBand(const RunContext &context, const BandRun &run) const override {
    const DataType type = context.input(kChannelShuffleInputInput)->data_type;
    Shuffle({run.input, run.input_stride, run.output, run.output_stride,
             DataTypeSize(type)},
            0, run.rows.count() * shape_[2]);
  }

  HalfUse half_use() const override { return HalfUse::kFollows; }

 private:
  // Strides are elements from pixel to pixel.
  struct Pixels {
    const void *input;
    int64_t input_stride;
    void *output;
    int64_t output_stride;
    size_t element_bytes;
  };

  void Shuffle(const Pixels &pixels, int64_t begin, int64_t end) const {
    const auto groups = static_cast<size_t>(attributes_.groups);
    const size_t group_size = static_cast<size_t>(shape_[3]) / groups;
    const auto bytes = static_cast<int64_t>(pixels.element_bytes);
    const auto matrix = bytes == 2 ? kernels_->matrix16 : kernels_->matrix32;
    const uint8_t *x = static_cast<const uint8_t *>(pixels.input);
    uint8_t *y = static_cast<uint8_t *>(pixels.output);
    for (int64_t i = begin; i < end; ++i) {
      matrix(x + i * pixels.input_stride * bytes, group_size,
             y + i * pixels.output_stride * bytes, groups, groups, group_size);
    }
  }

  Shape shape_;
  ChannelShuffleAttributes attributes_;
  const transpose::Kernels *kernels_ = nullptr;
};

}  // namespace

MACE_REGISTER_OP(ChannelShuffle, CPU, ChannelShuffleOp);

}  // namespace mace
