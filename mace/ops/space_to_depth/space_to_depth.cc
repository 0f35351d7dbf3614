// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/space_to_depth/space_to_depth_schema.h"

#include "mace/kernels/cpu/transpose/transpose.h"
#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class SpaceToDepthOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = transpose::KernelsFor(isa());
    return attributes_.Parse(context->def());
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *input = context->input(kSpaceToDepthInputInput);
    const Shape &shape = input->shape;
    const int64_t block = attributes_.block;
    if (shape.rank() != 4 || shape[1] % block != 0 || shape[2] % block != 0) {
      return Invalid("takes [N, H, W, C] with H and W divisible by block = ",
                     block, ", not ", shape.ToString());
    }
    output_ = {shape[0], shape[1] / block, shape[2] / block,
               shape[3] * block * block};
    return SetOutput(context, 0, output_, input->data_type);
  }

  HalfUse half_use() const override {
    return whole() ? HalfUse::kFollows : HalfUse::kNone;
  }

  MaceStatus Run(RunContext *context) override {
    const Tensor *input = context->input(kSpaceToDepthInputInput);
    Tensor *output = context->output(0);
    if (output_.Elements() == 0) return MaceStatus();
    const int64_t channels = output_[3];
    const int64_t width = output_[2];
    const int64_t block = attributes_.block;
    const int64_t run = channels / block;  // of a row of the block
    if (whole()) {
      const auto size = static_cast<int64_t>(DataTypeSize(input->data_type));
      StridedView view;
      view.rank = 3;
      view.dims[0] = output_.Elements(0, 2);
      view.dims[1] = width;
      view.dims[2] = block;
      view.strides[0] = width * channels * size;
      view.strides[1] = run * size;
      view.strides[2] = width * run * size;
      view.block = run * size;
      CopyStrided(context->thread_pool(), view, input->As<uint8_t>(),
                  output->MutableAs<uint8_t>());
      return MaceStatus();
    }
    const auto *x = input->As<uint32_t>();
    auto *y = output->MutableAs<uint32_t>();
    const auto depth = static_cast<size_t>(input->shape[3]);
    const auto side = static_cast<size_t>(block);
    const auto matrix = kernels_->matrix32;
    context->thread_pool()->ParallelFor(
        input->shape.Elements(0, 2), RowGrain(width * run),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end; ++row) {
            const auto *from = x + row * width * run;
            auto *to = y + row / block * width * channels + row % block * block;
            for (int64_t w = 0; w < width; ++w) {
              matrix(from + w * run, depth, to + w * channels, side * side,
                     side, depth);
            }
          }
        });
    return MaceStatus();
  }

 private:
  // Whether the elements of a row of the block lie side by side.
  bool whole() const {
    return attributes_.order == SpaceToDepthOrder::DCR ||
           attributes_.block == 1;
  }

  SpaceToDepthAttributes attributes_;
  const transpose::Kernels *kernels_ = nullptr;
  Shape output_;
};

}  // namespace

MACE_REGISTER_OP(SpaceToDepth, CPU, SpaceToDepthOp);

}  // namespace mace
