// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <memory>

#include "mace/core/model/quantization.h"
#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/pool/quantized_pool.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/pixels.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/pooling/pooling.h"

namespace mace {
namespace {

// So that sums of them do not exceed int32.
constexpr int64_t kMostElements = INT32_MAX / 255;

struct QuantizedSettings {
  PoolingAttributes attributes;
  const pool::QuantizedKernels *kernels = nullptr;
};

class QuantizedPoolingPlan final : public OpPlan, private RowBands {
 public:
  // `settings` belongs to the operator, which outlives the plan.
  QuantizedPoolingPlan(const QuantizedSettings *settings,
                       const WindowGeometry &geometry,
                       const Tensor &input,
                       const Tensor &output)
      : settings_(*settings),
        geometry_(geometry),
        input_(input.shape),
        output_(output.shape),
        ratio_(input.quantization->scales[0] / output.quantization->scales[0]) {
    const QuantizedSide from = KernelSide(input);
    const QuantizedSide to = KernelSide(output);
    params_.x_mask = from.mask();
    params_.y_mask = to.mask();
    params_.x_zero = from.zero;
    params_.zero = to.zero;
    params_.low = to.least;
    params_.high = to.most;
    // The element that stands for 0, for windows without any input.
    nothing_ = static_cast<uint8_t>(
        static_cast<uint8_t>(std::clamp(to.zero, to.least, to.most)) ^
        params_.y_mask);
  }

  void Run(RunContext *context) const {
    if (output_.Elements() == 0) return;
    const Tensor &input = *context->input(kPoolingInputInput);
    Tensor *output = context->output(0);
    const int64_t row_cost = output_[2] * geometry_.axis[0].kernel *
                             geometry_.axis[1].kernel * output_[3];
    context->thread_pool()->ParallelFor(
        output_[0] * output_[1], RowGrain(row_cost),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t image = row / output_[1];
            RunRow({input.As<uint8_t>() +
                        image * input_[1] * input_[2] * input.RowStride(),
                    input.RowStride()},
                   0, row % output_[1],
                   {output->MutableAs<uint8_t>() +
                        row * output_[2] * output->RowStride(),
                    output->RowStride()});
          }
        });
  }

  const RowBands *row_bands() const override {
    return output_.Elements() > 0 ? this : nullptr;
  }
  ConvPoolArgs Geometry() const override {
    return ReportWindow(geometry_,
                        {geometry_.axis[0].kernel, geometry_.axis[1].kernel});
  }

 private:
  RowRange InputRows(const RowRange &output) const override {
    return RowsUnder(geometry_.axis[0], output);
  }
  size_t BandScratchBytes(int64_t) const override { return 0; }
  void RunBand(const RunContext & /*context*/,
               const BandRun &run) const override {
    Pixels<uint8_t> y = {static_cast<uint8_t *>(run.output), run.output_stride};
    const int64_t first = InputRows(run.rows).begin;
    for (int64_t row = run.rows.begin; row < run.rows.end; ++row) {
      RunRow({static_cast<const uint8_t *>(run.input), run.input_stride}, first,
             row, y);
      y.data += output_[2] * y.stride;
    }
  }

  // Computes row `row` of an image's output at `y`, from `x`, which begins at
  // row `first` of the image.
  void RunRow(const Pixels<const uint8_t> &x,
              int64_t first,
              int64_t row,
              const Pixels<uint8_t> &y) const {
    const WindowAxis &down = geometry_.axis[0];
    const WindowAxis &across = geometry_.axis[1];
    const int64_t line = input_[2] * x.stride;
    const WindowTaps v = TapsOf(down, row);
    const auto channels = static_cast<size_t>(output_[3]);
    const bool largest = settings_.attributes.mode == PoolingMode::MAX;
    pool::Window window;
    window.rows = static_cast<size_t>(v.inside);
    window.row_stride = static_cast<ptrdiff_t>(down.dilation * line);
    window.column_stride = static_cast<ptrdiff_t>(across.dilation * x.stride);
    pool::QuantizedParams params = params_;
    for (int64_t column = 0; column < output_[2]; ++column) {
      const WindowTaps h = TapsOf(across, column);
      uint8_t *out = y.data + column * y.stride;
      if (v.inside == 0 || h.inside == 0) {
        std::fill(out, out + channels, nothing_);  // all padding
        continue;
      }
      window.columns = static_cast<size_t>(h.inside);
      window.first = x.data + (v.first - first) * line + h.first * x.stride;
      const int64_t divisor = largest ? 1
                              : settings_.attributes.count_include_pad
                                  ? v.padded * h.padded
                                  : v.inside * h.inside;
      params.scale = ratio_ / static_cast<float>(divisor);
      (largest ? settings_.kernels->max : settings_.kernels->sum)(
          params, window, channels, out);
    }
  }

  const QuantizedSettings &settings_;
  const WindowGeometry geometry_;
  const Shape input_;
  const Shape output_;
  const float ratio_;
  pool::QuantizedParams params_;
  uint8_t nothing_ = 0;
};

class QuantizedPoolingOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    settings_.attributes = context->AttributesAs<PoolingAttributes>();
    settings_.kernels = pool::QuantizedKernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &input = *context->input(kPoolingInputInput);
    MACE_ASSIGN_OR_RETURN(const WindowGeometry geometry,
                          PoolingWindow(settings_.attributes, input.shape));
    const int64_t elements = geometry.axis[0].kernel * geometry.axis[1].kernel;
    if (elements > kMostElements) {
      return NotSupported("quantized, its window has at most ", kMostElements,
                          " elements, not ", elements);
    }
    context->AllowStridedInput(kPoolingInputInput);
    context->AllowStridedOutput(0);
    context->Keep(std::make_unique<QuantizedPoolingPlan>(
        &settings_, geometry, input, *context->output(0)));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<QuantizedPoolingPlan>().Run(context);
    return MaceStatus();
  }

 private:
  QuantizedSettings settings_;
};

MACE_REGISTER_QUANTIZED_OP(Pooling, CPU, QuantizedPoolingOp);

}  // namespace
}  // namespace mace
