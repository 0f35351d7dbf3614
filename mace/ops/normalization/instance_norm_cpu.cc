// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/normalization/instance_norm_schema.h"

#include <algorithm>
#include <cmath>

#include "mace/kernels/cpu/norm/norm.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"

namespace mace {

namespace {

// Floats of a block whose moments are computed by one call: about half of L1.
// Blocks depend only on the shape, and so do the bits.
constexpr int64_t kBlockFloats = 4096;
constexpr int64_t kMinBlockRows = 8;

// How a non-empty input is divided.
struct Blocks {
  explicit Blocks(const Shape &shape)
      : images(shape[0]),
        rows(shape.Elements(1, shape.rank() - 1)),
        channels(shape.back()),
        block_rows(std::max(kMinBlockRows, kBlockFloats / channels)),
        blocks((rows + block_rows - 1) / block_rows) {}

  // Rows of the block that begins at row `first` of an image.
  size_t RowsFrom(int64_t first) const {
    return static_cast<size_t>(std::min(block_rows, rows - first));
  }

  int64_t images;
  int64_t rows;  // of an image: what is averaged over
  int64_t channels;
  int64_t block_rows;
  int64_t blocks;  // of an image
};

class InstanceNormOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<InstanceNormAttributes>();
    epsilon_ = attributes.epsilon;
    activation_ = ActivationParams(attributes);
    kernels_ = norm::KernelsFor(isa());
    activations_ = activation::KernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &shape = context->input(kInstanceNormInputInput)->shape;
    if (shape.Elements() == 0) return MaceStatus();
    const Blocks cut(shape);
    context->RequestScratch(static_cast<size_t>(cut.images * cut.blocks) * 2 *
                            static_cast<size_t>(cut.channels) * sizeof(float));
    context->AllowInPlace(0, 0);
    context->AllowStridedInput(kInstanceNormInputInput);
    context->AllowStridedOutput(0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kInstanceNormInputInput);
    if (input->elements() == 0) return MaceStatus();
    const Blocks cut(input->shape);
    const float *x = input->As<float>();
    const int64_t stride = input->RowStride();
    // Mean and distances of block b of image i are in row i * cut.blocks + b.
    float *moments = static_cast<float *>(context->scratch());
    ThreadPool *pool = context->thread_pool();
    pool->ParallelFor(
        cut.images * cut.blocks, RowGrain(cut.block_rows * cut.channels),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t first = item % cut.blocks * cut.block_rows;
            float *mean = moments + item * 2 * cut.channels;
            kernels_->moments(
                x + (item / cut.blocks * cut.rows + first) * stride,
                static_cast<size_t>(stride), cut.RowsFrom(first),
                static_cast<size_t>(cut.channels), mean, mean + cut.channels);
          }
        });
    const float *scale = context->input(kInstanceNormScaleInput)->As<float>();
    for (int64_t image = 0; image < cut.images; ++image) {
      Finish(cut, moments + image * cut.blocks * 2 * cut.channels, scale);
    }
    Apply(cut, {x, stride},
          context->input(kInstanceNormOffsetInput)->As<float>(), moments,
          context->output(0), pool);
    return MaceStatus();
  }

 private:
  // Merges the blocks of an image into its first one and converts the distances
  // there to the factor of (x - mean).
  void Finish(const Blocks &cut, float *moments, const float *scale) const {
    float *distances = moments + cut.channels;
    kernels_->merge(moments, static_cast<size_t>(cut.blocks),
                    static_cast<size_t>(cut.block_rows),
                    cut.RowsFrom((cut.blocks - 1) * cut.block_rows),
                    static_cast<size_t>(cut.channels));
    const auto count = static_cast<float>(cut.rows);
    for (int64_t c = 0; c < cut.channels; ++c) {
      distances[c] = scale[c] / std::sqrt(distances[c] / count + epsilon_);
    }
  }

  void Apply(const Blocks &cut,
             const Pixels<const float> &x,
             const float *offset,
             const float *moments,
             Tensor *output,
             ThreadPool *pool) const {
    float *y = output->MutableAs<float>();
    const int64_t y_stride = output->RowStride();
    const bool dense = y_stride == cut.channels;
    pool->ParallelFor(
        cut.images * cut.rows, RowGrain(cut.channels),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end;) {
            const int64_t image = row / cut.rows;
            const int64_t count = std::min(
                {end - row, (image + 1) * cut.rows - row, cut.block_rows});
            const float *mean = moments + image * cut.blocks * 2 * cut.channels;
            float *to = y + row * y_stride;
            kernels_->apply(
                x.data + row * x.stride, static_cast<size_t>(x.stride), mean,
                mean + cut.channels, offset, to, static_cast<size_t>(y_stride),
                static_cast<size_t>(count), static_cast<size_t>(cut.channels));
            Activate(to, y_stride, dense ? 1 : count,
                     dense ? count * cut.channels : cut.channels);
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
};

}  // namespace

MACE_REGISTER_OP(InstanceNorm, CPU, InstanceNormOp);

}  // namespace mace
