// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/normalization/layer_norm_schema.h"

#include <algorithm>

#include "mace/kernels/cpu/norm/row_norm.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/half_block.h"

namespace mace {

namespace {

class LayerNormOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = norm::RowKernelsFor(isa());
    half_ = HalfActivations::Of(context->hints(), isa());
    attributes_ = context->AttributesAs<LayerNormAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor *input = context->input(kLayerNormInputInput);
    if (IsHalf(input->data_type)) {
      context->RequestScratch(
          static_cast<size_t>(context->thread_pool()->thread_count()) *
          BlockFloats(input->shape) * sizeof(float));
    }
    context->AllowInPlace(0, 0);
    context->AllowStridedInput(kLayerNormInputInput);
    context->AllowStridedOutput(0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kLayerNormInputInput);
    if (input->elements() == 0) return MaceStatus();
    Tensor *output = context->output(0);
    const int64_t n = input->shape.back();
    norm::RowNorm norm;
    norm.scale = DataOf(context->input(kLayerNormScaleInput));
    norm.offset = DataOf(context->input(kLayerNormOffsetInput));
    norm.n = static_cast<size_t>(n);
    norm.epsilon = attributes_.epsilon;
    norm.subtract_mean = attributes_.subtract_mean;
    const bool half = IsHalf(input->data_type);
    const int64_t x_stride = input->RowStride();
    const int64_t y_stride = output->RowStride();
    float *scratch = static_cast<float *>(context->scratch());
    context->thread_pool()->ParallelFor(
        input->elements() / n, RowGrain(n),
        [&](int64_t begin, int64_t end, int thread) {
          if (!half) {
            kernels_->run(norm, input->As<float>() + begin * x_stride,
                          static_cast<size_t>(x_stride),
                          output->MutableAs<float>() + begin * y_stride,
                          static_cast<size_t>(y_stride),
                          static_cast<size_t>(end - begin));
            return;
          }
          float *block =
              scratch + static_cast<size_t>(thread) * BlockFloats(input->shape);
          const bool dense = x_stride == n && y_stride == n;
          const int64_t rows = dense ? BlockRows(n) : 1;
          for (int64_t i = begin; i < end; i += rows) {
            const auto now = static_cast<size_t>(std::min(rows, end - i));
            half_.convert->widen(input->As<uint16_t>() + i * x_stride, block,
                                 now * norm.n);
            kernels_->run(norm, block, norm.n, block, norm.n, now);
            half_.convert->narrow(block,
                                  output->MutableAs<uint16_t>() + i * y_stride,
                                  now * norm.n);
          }
        });
    return MaceStatus();
  }

 private:
  // Rows that are widened, normalised and narrowed together.
  static int64_t BlockRows(int64_t n) {
    return std::max<int64_t>(1, kHalfBlock / std::max<int64_t>(1, n));
  }
  // Whole cache lines, to avoid false sharing.
  static size_t BlockFloats(const Shape &shape) {
    const int64_t n = shape.back();
    return (static_cast<size_t>(BlockRows(n) * n) + 15) / 16 * 16;
  }

  static const float *DataOf(const Tensor *tensor) {
    return tensor == nullptr ? nullptr : tensor->As<float>();
  }

  LayerNormAttributes attributes_;
  const norm::RowKernels *kernels_ = nullptr;
  HalfActivations half_;
};

}  // namespace

MACE_REGISTER_OP(LayerNorm, CPU, LayerNormOp);

}  // namespace mace
