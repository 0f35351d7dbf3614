// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/instance_norm/instance_norm_schema.h"

#include <algorithm>
#include <cmath>

#include "mace/kernels/cpu/norm/norm.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

// Of a block whose moments are found in one call: about what half of an L1
// holds. Blocks depend on nothing but the shape, and so do the bits.
constexpr int64_t kBlockFloats = 4096;
constexpr int64_t kMinBlockRows = 8;

class InstanceNormOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    InstanceNormAttributes attributes;
    MACE_RETURN_IF_ERROR(attributes.Parse(context->def()));
    epsilon_ = attributes.epsilon;
    activation_ = ActivationParams(attributes);
    kernels_ = norm::KernelsFor(isa());
    activations_ = activation::KernelsFor(isa());
    return CheckFusedActivation(context->def(), activation_);
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *input = context->input(kInstanceNormInputInput);
    const Shape &shape = input->shape;
    const Shape &scale = context->input(kInstanceNormScaleInput)->shape;
    const Shape &offset = context->input(kInstanceNormOffsetInput)->shape;
    if (shape.rank() < 3) {
      return Invalid("takes [N, ..., C] of at least 3 dimensions, not ",
                     shape.ToString());
    }
    const Shape channels = {shape.back()};
    if (scale != channels || offset != channels) {
      return Invalid("scale has the shape ", scale.ToString(), ", offset ",
                     offset.ToString(), "; both must have ",
                     channels.ToString(), " for an input of shape ",
                     shape.ToString());
    }
    images_ = shape[0];
    rows_ = shape.Elements(1, shape.rank() - 1);
    channels_ = shape.back();
    MACE_RETURN_IF_ERROR(SetOutput(context, 0, shape, input->data_type));
    if (shape.Elements() == 0) return MaceStatus();
    block_rows_ = std::max(kMinBlockRows, kBlockFloats / channels_);
    blocks_ = (rows_ + block_rows_ - 1) / block_rows_;
    context->RequestScratch(static_cast<size_t>(images_ * blocks_) * 2 *
                            static_cast<size_t>(channels_) * sizeof(float));
    context->AllowInPlace(0, 0);
    context->AllowStridedInput(kInstanceNormInputInput);
    context->AllowStridedOutput(0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) override {
    const Tensor *input = context->input(kInstanceNormInputInput);
    if (input->elements() == 0) return MaceStatus();
    const float *x = input->As<float>();
    const int64_t stride = input->RowStride();
    // Mean and distances of block b of image i: row i * blocks_ + b.
    float *moments = static_cast<float *>(context->scratch());
    ThreadPool *pool = context->thread_pool();
    pool->ParallelFor(images_ * blocks_, RowGrain(block_rows_ * channels_),
                      [&](int64_t begin, int64_t end, int /*thread*/) {
                        for (int64_t item = begin; item < end; ++item) {
                          const int64_t first = item % blocks_ * block_rows_;
                          float *mean = moments + item * 2 * channels_;
                          kernels_->moments(
                              x + (item / blocks_ * rows_ + first) * stride,
                              static_cast<size_t>(stride), RowsFrom(first),
                              static_cast<size_t>(channels_), mean,
                              mean + channels_);
                        }
                      });
    const float *scale = context->input(kInstanceNormScaleInput)->As<float>();
    for (int64_t image = 0; image < images_; ++image) {
      Finish(moments + image * blocks_ * 2 * channels_, scale);
    }
    Apply(x, stride, context->input(kInstanceNormOffsetInput)->As<float>(),
          moments, context->output(0), pool);
    return MaceStatus();
  }

 private:
  // Rows of the block that begins at row `first` of an image.
  size_t RowsFrom(int64_t first) const {
    return static_cast<size_t>(std::min(block_rows_, rows_ - first));
  }

  // Merges the blocks of an image into its first and makes the distances there
  // the factor of (x - mean).
  void Finish(float *moments, const float *scale) const {
    float *distances = moments + channels_;
    kernels_->merge(
        moments, static_cast<size_t>(blocks_), static_cast<size_t>(block_rows_),
        RowsFrom((blocks_ - 1) * block_rows_), static_cast<size_t>(channels_));
    const auto count = static_cast<float>(rows_);
    for (int64_t c = 0; c < channels_; ++c) {
      distances[c] = scale[c] / std::sqrt(distances[c] / count + epsilon_);
    }
  }

  void Apply(const float *x,
             int64_t x_stride,
             const float *offset,
             const float *moments,
             Tensor *output,
             ThreadPool *pool) const {
    float *y = output->MutableAs<float>();
    const int64_t y_stride = output->RowStride();
    const bool dense = y_stride == channels_;
    pool->ParallelFor(
        images_ * rows_, RowGrain(channels_),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end;) {
            const int64_t image = row / rows_;
            const int64_t count =
                std::min({end - row, (image + 1) * rows_ - row, block_rows_});
            const float *mean = moments + image * blocks_ * 2 * channels_;
            float *to = y + row * y_stride;
            kernels_->apply(
                x + row * x_stride, static_cast<size_t>(x_stride), mean,
                mean + channels_, offset, to, static_cast<size_t>(y_stride),
                static_cast<size_t>(count), static_cast<size_t>(channels_));
            Activate(to, y_stride, dense ? 1 : count,
                     dense ? count * channels_ : channels_);
            row += count;
          }
        });
  }

  void Activate(float *y, int64_t stride, int64_t rows, int64_t run) const {
    if (activation_.kind == activation::Kind::kNone) return;
    for (int64_t row = 0; row < rows; ++row) {
      activations_->run(activation_, y + row * stride, y + row * stride,
                        static_cast<size_t>(run));
    }
  }

  float epsilon_ = 0;
  activation::Params activation_;
  const norm::Kernels *kernels_ = nullptr;
  const activation::Kernels *activations_ = nullptr;
  int64_t images_ = 0;
  int64_t rows_ = 0;  // of an image: what is averaged over
  int64_t channels_ = 0;
  int64_t block_rows_ = 0;
  int64_t blocks_ = 0;  // of an image
};

}  // namespace

MACE_REGISTER_OP(InstanceNorm, CPU, InstanceNormOp);

}  // namespace mace
