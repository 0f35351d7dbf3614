// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "mace/kernels/cpu/transpose/transpose.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/depth_to_space/channel_shuffle_schema.h"

namespace mace {

namespace {

class ChannelShuffleOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = transpose::KernelsFor(isa());
    attributes_ = context->AttributesAs<ChannelShuffleAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    if (context->input(kChannelShuffleInputInput)->elements() > 0) {
      context->Keep(std::make_unique<InBands>(this));
    }
    context->AllowStridedInput(kChannelShuffleInputInput);
    context->AllowStridedOutput(0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kChannelShuffleInputInput);
    Tensor *output = context->output(0);
    if (input->elements() == 0) return MaceStatus();
    const Pixels<const uint8_t> x = {input->As<uint8_t>(), input->RowStride()};
    const Pixels<uint8_t> y = {output->MutableAs<uint8_t>(),
                               output->RowStride()};
    context->thread_pool()->ParallelFor(
        input->shape.Elements(0, 3), RowGrain(input->shape[3]),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          Shuffle(*input, x, y, begin, end);
        });
    return MaceStatus();
  }

 private:
  class InBands final : public OpPlan, private RowBands {
   public:
    explicit InBands(const ChannelShuffleOp *op) : op_(op) {}
    const RowBands *row_bands() const override { return this; }

   private:
    RowRange InputRows(const RowRange &output) const override { return output; }
    size_t BandScratchBytes(int64_t) const override { return 0; }
    void RunBand(const RunContext &context, const BandRun &run) const override {
      const Tensor &input = *context.input(kChannelShuffleInputInput);
      op_->Shuffle(input,
                   {static_cast<const uint8_t *>(run.input), run.input_stride},
                   {static_cast<uint8_t *>(run.output), run.output_stride}, 0,
                   run.rows.count() * input.shape[2]);
    }

    const ChannelShuffleOp *op_;
  };

  // `input` describes the pixels at `x`.
  void Shuffle(const Tensor &input,
               const Pixels<const uint8_t> &x,
               const Pixels<uint8_t> &y,
               int64_t begin,
               int64_t end) const {
    const auto groups = static_cast<size_t>(attributes_.groups);
    const size_t group_size = static_cast<size_t>(input.shape[3]) / groups;
    const auto size = static_cast<int64_t>(DataTypeSize(input.data_type));
    const transpose::Matrix matrix = transpose::MatrixOf(*kernels_, size);
    for (int64_t i = begin; i < end; ++i) {
      matrix(x.data + i * x.stride * size, group_size,
             y.data + i * y.stride * size, groups, groups, group_size);
    }
  }

  ChannelShuffleAttributes attributes_;
  const transpose::Kernels *kernels_ = nullptr;
};

}  // namespace

MACE_REGISTER_OP(ChannelShuffle, CPU, ChannelShuffleOp);

}  // namespace mace
