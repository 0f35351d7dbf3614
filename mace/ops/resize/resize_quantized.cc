// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "mace/core/model/quantization.h"
#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/resize/quantized_resize.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/resize/resize.h"

namespace mace {
namespace {

// The weights of one axis as integers, whose sum for each output is kOne; what
// rounding lacks goes to the first of the largest.
std::vector<int32_t> IntegerWeights(const ResizeTaps &axis) {
  std::vector<int32_t> made(axis.weights.size());
  const auto taps = static_cast<size_t>(axis.taps);
  for (size_t at = 0; at < made.size(); at += taps) {
    int32_t *const weights = made.data() + at;
    int32_t left = resize::kOne;
    for (size_t k = 0; k < taps; ++k) {
      weights[k] = static_cast<int32_t>(
          RoundToEven(double{axis.weights[at + k]} * resize::kOne));
      left -= weights[k];
    }
    *std::max_element(weights, weights + taps) += left;
  }
  return made;
}

struct QuantizedResizePlan final : public OpPlan {
  ResizeTaps rows;
  ResizeTaps columns;
  // Of rows and columns; none for NEAREST.
  std::vector<int32_t> row_weights;
  std::vector<int32_t> column_weights;
  resize::QuantizedParams params;
};

class QuantizedResizeOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<ResizeAttributes>();
    if (!nearest() &&
        (attributes_.mode != ResizeMode::LINEAR || attributes_.antialias)) {
      return NotSupported(
          "quantized, it has no modes but NEAREST and LINEAR without "
          "antialias");
    }
    kernels_ = resize::QuantizedKernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &input = *context->input(kResizeInputInput);
    const Tensor &output = *context->output(0);
    const bool same = input.data_type == output.data_type &&
                      *input.quantization == *output.quantization;
    if (nearest() && !same) {
      return NotSupported(
          "quantized, with mode NEAREST its input and its output have the same "
          "type and scale");
    }
    context->AllowStridedInput(kResizeInputInput);
    context->AllowStridedOutput(0);
    if (output.elements() == 0) return MaceStatus();
    auto plan = std::make_unique<QuantizedResizePlan>();
    plan->rows = PlanResizeAxis(
        attributes_, ResizeAxisOf(attributes_, input.shape, output.shape, 0));
    plan->columns = PlanResizeAxis(
        attributes_, ResizeAxisOf(attributes_, input.shape, output.shape, 1));
    plan->row_weights = IntegerWeights(plan->rows);
    plan->column_weights = IntegerWeights(plan->columns);
    const QuantizedSide from = KernelSide(input);
    const QuantizedSide to = KernelSide(output);
    resize::QuantizedParams &params = plan->params;
    params.x_mask = from.mask();
    params.y_mask = to.mask();
    params.x_zero = from.zero;
    params.scale =
        input.quantization->scales[0] / output.quantization->scales[0];
    params.scale /= static_cast<float>(resize::kOne * resize::kOne);
    params.zero = to.zero;
    params.low = to.least;
    params.high = to.most;
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor &input = *context->input(kResizeInputInput);
    Tensor *output = context->output(0);
    if (output->elements() == 0) return MaceStatus();
    const auto &plan = context->PlanAs<QuantizedResizePlan>();
    const int64_t height = output->shape[1];
    const int64_t pixel = output->RowStride();
    context->thread_pool()->ParallelFor(
        output->shape[0] * height,
        RowGrain(output->shape[2] * output->shape[3]),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end; ++row) {
            uint8_t *y =
                output->MutableAs<uint8_t>() + row * output->shape[2] * pixel;
            const int64_t first = row / height * input.shape[1];
            RunRow(plan, input, first, static_cast<size_t>(row % height),
                   *output, y);
          }
        });
    return MaceStatus();
  }

 private:
  bool nearest() const { return attributes_.mode == ResizeMode::NEAREST; }

  // Row `at` of an image of the output, whose input begins at row `first`.
  void RunRow(const QuantizedResizePlan &plan,
              const Tensor &input,
              int64_t first,
              size_t at,
              const Tensor &output,
              uint8_t *y) const {
    const int64_t stride = input.RowStride();
    const int64_t line = input.shape[2] * stride;
    const uint8_t *x =
        input.As<uint8_t>() + (first + plan.rows.first[at]) * line;
    const auto channels = static_cast<size_t>(output.shape[3]);
    if (nearest()) {
      for (const int32_t column : plan.columns.first) {
        std::memcpy(y, x + column * stride, channels);
        y += output.RowStride();
      }
      return;
    }
    resize::QuantizedRow row;
    row.row_taps = static_cast<size_t>(plan.rows.taps);
    for (size_t k = 0; k < row.row_taps; ++k) {
      row.rows[k] = x + static_cast<int64_t>(k) * line;
      row.row_weights[k] = plan.row_weights[at * row.row_taps + k];
    }
    row.first = plan.columns.first.data();
    row.weights = plan.column_weights.data();
    row.taps = static_cast<size_t>(plan.columns.taps);
    row.width = plan.columns.first.size();
    row.channels = channels;
    row.x_stride = static_cast<size_t>(stride);
    row.y_stride = static_cast<size_t>(output.RowStride());
    kernels_->row(plan.params, row, y);
  }

  ResizeAttributes attributes_;
  const resize::QuantizedKernels *kernels_ = nullptr;
};

MACE_REGISTER_QUANTIZED_OP(Resize, CPU, QuantizedResizeOp);

}  // namespace
}  // namespace mace
