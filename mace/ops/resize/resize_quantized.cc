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
#include "mace/ops/cpu_op/quantized_formulas.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/resize/resize.h"

namespace mace {
namespace {

std::vector<int32_t> IntegerWeightsOf(const ResizeTaps &axis) {
  return IntegerWeights(axis.weights, static_cast<size_t>(axis.taps),
                        resize::kOne);
}

// Of a thread.
constexpr int64_t kMostScratch = INT64_C(1) << 31;
constexpr int64_t kNumber = sizeof(int32_t);
// An element takes about as long as 4 simple ones.
constexpr int64_t kCost = 4;
constexpr int64_t kTasksPerThread = 4;

struct QuantizedResizePlan final : public OpPlan {
  ResizeTaps rows;
  ResizeTaps columns;
  // Of rows and columns; none for NEAREST.
  std::vector<int32_t> row_weights;
  std::vector<int32_t> column_weights;
  uint8_t x_mask = 0;
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
    const QuantizedSide from = KernelSide(input);
    const QuantizedSide to = KernelSide(output);
    const bool same = from.zero == to.zero &&
                      input.quantization->scales == output.quantization->scales;
    if (nearest() && !same) {
      return NotSupported(
          "quantized, with mode NEAREST its input and its output have the same "
          "scale and zero point");
    }
    context->AllowStridedInput(kResizeInputInput);
    context->AllowStridedOutput(0);
    if (output.elements() == 0) return MaceStatus();
    auto plan = std::make_unique<QuantizedResizePlan>();
    plan->rows = PlanResizeAxis(
        attributes_, ResizeAxisOf(attributes_, input.shape, output.shape, 0));
    plan->columns = PlanResizeAxis(
        attributes_, ResizeAxisOf(attributes_, input.shape, output.shape, 1));
    plan->row_weights = IntegerWeightsOf(plan->rows);
    plan->column_weights = IntegerWeightsOf(plan->columns);
    resize::QuantizedParams &params = plan->params;
    plan->x_mask = from.mask();
    params.y_mask = to.mask();
    params.x_zero = from.zero;
    params.scale =
        input.quantization->scales[0] / output.quantization->scales[0];
    params.scale /= static_cast<float>(resize::kOne * resize::kOne);
    params.zero = to.zero;
    params.low = to.least;
    params.high = to.most;
    if (!nearest()) {
      const int64_t numbers = ScratchNumbers(output);
      if (numbers > kMostScratch / kNumber) {
        return NotSupported("quantized, a row of its output has at most ",
                            kMostScratch / (2 * kNumber), " elements");
      }
      context->RequestScratch(
          static_cast<size_t>(context->thread_pool()->thread_count() *
                              numbers) *
          sizeof(int32_t));
    }
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor &input = *context->input(kResizeInputInput);
    Tensor *output = context->output(0);
    if (output->elements() == 0) return MaceStatus();
    const auto &plan = context->PlanAs<QuantizedResizePlan>();
    const int64_t height = output->shape[1];
    const int64_t line = input.shape[2] * input.RowStride();
    auto *scratch = static_cast<int32_t *>(context->scratch());
    ThreadPool *pool = context->thread_pool();
    const int64_t count = output->shape[0] * height;
    // Tasks are long, because the first row of each resizes all input rows that
    // it needs, later ones only new ones.
    const int64_t grain =
        std::max(RowGrain(kCost * output->shape[2] * output->shape[3]),
                 count / (kTasksPerThread * pool->thread_count()));
    pool->ParallelFor(
        count, grain, [&](int64_t begin, int64_t end, int thread) {
          Rows rows;
          rows.memory = scratch + thread * ScratchNumbers(*output);
          for (int64_t row = begin; row < end; ++row) {
            const auto at = static_cast<size_t>(row % height);
            const int64_t first =
                row / height * input.shape[1] + plan.rows.first[at];
            uint8_t *y = output->MutableAs<uint8_t>() +
                         row * output->shape[2] * output->RowStride();
            if (nearest() && row > begin && at > 0 && output->row_stride == 0 &&
                plan.rows.first[at - 1] == plan.rows.first[at]) {
              // The previous row again.
              const int64_t bytes = output->shape[2] * output->shape[3];
              std::memcpy(y, y - bytes, static_cast<size_t>(bytes));
            } else if (nearest()) {
              CopyRow(plan, input.As<uint8_t>() + first * line,
                      input.RowStride(), *output, y);
            } else {
              BlendRow(plan, input, first, at, *output, &rows, y);
            }
          }
        });
    if (nearest() && input.data_type != output->data_type) {
      FlipRows(*output, pool);
    }
    return MaceStatus();
  }

 private:
  // The latest input rows of a thread, at output width.
  struct Rows {
    int32_t *memory = nullptr;
    int64_t in_place[resize::kMostTaps] = {-1, -1};
  };

  bool nearest() const { return attributes_.mode == ResizeMode::NEAREST; }

  // Of one thread, in whole cache lines.
  static int64_t ScratchNumbers(const Tensor &output) {
    const int64_t row = output.shape[2] * output.shape[3];
    return (row + 15) / 16 * 16 * static_cast<int64_t>(resize::kMostTaps);
  }

  static void CopyRow(const QuantizedResizePlan &plan,
                      const uint8_t *x,
                      int64_t stride,
                      const Tensor &output,
                      uint8_t *y) {
    const auto channels = static_cast<size_t>(output.shape[3]);
    for (const int32_t column : plan.columns.first) {
      const uint8_t *from = x + column * stride;
      if (channels == 1) {
        *y = *from;
      } else {
        std::memcpy(y, from, channels);
      }
      y += output.RowStride();
    }
  }

  // Row `at` of an image of the output, from row `first` of the input on.
  void BlendRow(const QuantizedResizePlan &plan,
                const Tensor &input,
                int64_t first,
                size_t at,
                const Tensor &output,
                Rows *rows,
                uint8_t *y) const {
    resize::QuantizedColumns columns;
    columns.first = plan.columns.first.data();
    columns.weights = plan.column_weights.data();
    columns.taps = static_cast<size_t>(plan.columns.taps);
    columns.width = plan.columns.first.size();
    columns.channels = static_cast<size_t>(output.shape[3]);
    columns.x_stride = static_cast<size_t>(input.RowStride());
    const auto taps = static_cast<size_t>(plan.rows.taps);
    const int32_t *from[resize::kMostTaps] = {};
    for (size_t k = 0; k < taps; ++k) {
      const int64_t row = first + static_cast<int64_t>(k);
      const int64_t place = row % static_cast<int64_t>(resize::kMostTaps);
      int32_t *h = rows->memory + place * ScratchNumbers(output) /
                                      static_cast<int64_t>(resize::kMostTaps);
      if (rows->in_place[place] != row) {
        kernels_->columns(
            columns, plan.x_mask,
            input.As<uint8_t>() + row * input.shape[2] * input.RowStride(), h);
        rows->in_place[place] = row;
      }
      from[k] = h;
    }
    const int32_t *weights = plan.row_weights.data() + at * taps;
    const int64_t pixels = output.row_stride == 0 ? output.shape[2] : 1;
    const auto count = static_cast<size_t>(pixels * output.shape[3]);
    for (int64_t x = 0; x < output.shape[2]; x += pixels) {
      kernels_->blend(plan.params, from, weights, count, y);
      y += output.RowStride();
      for (size_t k = 0; k < taps; ++k) from[k] += count;
    }
  }

  ResizeAttributes attributes_;
  const resize::QuantizedKernels *kernels_ = nullptr;
};

MACE_REGISTER_QUANTIZED_OP(Resize, CPU, QuantizedResizeOp);

}  // namespace
}  // namespace mace
