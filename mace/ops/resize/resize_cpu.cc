// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/divide.h"
#include "mace/kernels/cpu/resize/resize.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/half_block.h"
#include "mace/ops/resize/nearest.h"
#include "mace/ops/resize/resize.h"
#include "mace/ops/resize/resize_schema.h"

namespace mace {

namespace {

constexpr int64_t kMostRowElements = INT64_C(1) << 30;
constexpr int64_t kMostScratch = INT64_C(1) << 31;
constexpr int64_t kTasksPerThread = 4;

// The rows and columns of the input from which each row and column of the
// output is computed.
struct ResizePlan final : public OpPlan {
  // The scratch memory of one thread: the latest input rows at output width,
  // the input row in each place, and the arguments of `blend`; with 16-bit
  // images, an input row in float.
  struct Work {
    float *rows;
    float *widened;
    int64_t *in_place;
    const float **wanted;
  };

  // Fills element_first and element_weights.
  void PlanElements(int64_t channels);
  Work WorkOf(void *scratch, int thread) const;
  void ResampleRow(const Tensor *input,
                   int64_t row,
                   const Work &work,
                   float *out) const;
  // out[i] = the sum of weights[k] * from[k][i], i < count; advances `from`.
  void BlendHalf(const float **from,
                 const float *weights,
                 size_t taps,
                 int64_t count,
                 uint16_t *out) const;
  void RunRow(const Tensor *input,
              int64_t row,
              const Work &work,
              Tensor *output) const;

  const resize::Kernels *kernels = nullptr;
  const convert::HalfKernels *half = nullptr;  // null: images of float
  ResizeTaps rows;
  ResizeTaps columns;
  // For every element of a row if there are few channels, otherwise empty.
  std::vector<int32_t> element_first;
  std::vector<float> element_weights;
  int64_t row_floats = 0;      // of a row in Work
  int64_t widened_floats = 0;  // of Work::widened
  int64_t work_bytes = 0;      // of a thread
};

class ResizeOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override;
  MaceStatus Plan(PlanContext *context) override;
  MaceStatus Run(RunContext *context) const override;

 private:
  bool nearest() const { return attributes_.mode == ResizeMode::NEAREST; }
  MaceStatus PlanAxes(const Shape &input,
                      const Shape &output,
                      ResizePlan *plan) const;

  ResizeAttributes attributes_;
  const resize::Kernels *kernels_ = nullptr;
  HalfActivations half_;
};

MaceStatus ResizeOp::InitOp(InitContext *context) {
  attributes_ = context->AttributesAs<ResizeAttributes>();
  kernels_ = resize::KernelsFor(isa());
  half_ = HalfActivations::Of(context->hints(), isa());
  return MaceStatus();
}

MaceStatus ResizeOp::Plan(PlanContext *context) {
  const Shape &input = context->input(kResizeInputInput)->shape;
  const Shape &output = context->output(0)->shape;
  context->AllowStridedOutput(0);
  if (output.Elements() == 0) return MaceStatus();
  auto plan = std::make_unique<ResizePlan>();
  plan->kernels = kernels_;
  if (IsHalf(context->input(kResizeInputInput)->data_type)) {
    plan->half = half_.convert;
  }
  MACE_RETURN_IF_ERROR(PlanAxes(input, output, plan.get()));
  // `elements` needs dense rows.
  if (plan->element_first.empty()) {
    context->AllowStridedInput(kResizeInputInput);
  }
  if (!nearest()) {
    context->RequestScratch(static_cast<size_t>(
        plan->work_bytes * context->thread_pool()->thread_count()));
  }
  context->Keep(std::move(plan));
  return MaceStatus();
}

MaceStatus ResizeOp::PlanAxes(const Shape &input,
                              const Shape &output,
                              ResizePlan *plan) const {
  ResizeTaps *const taps[] = {&plan->rows, &plan->columns};
  for (size_t i = 0; i < 2; ++i) {
    *taps[i] = PlanResizeAxis(attributes_,
                              ResizeAxisOf(attributes_, input, output, i));
  }
  if (nearest()) return MaceStatus();
  const int64_t channels = output[3];
  const int64_t width = output[2] * channels;
  if (std::max(width, input[2] * channels) > kMostRowElements) {
    return NotSupported("rows must have at most ", kMostRowElements,
                        " elements");
  }
  if (channels < static_cast<int64_t>(kernels_->lanes))
    plan->PlanElements(channels);
  plan->row_floats =
      RoundUp(width, static_cast<int64_t>(resize::kElementBlock));
  const int64_t entry = sizeof(float) * plan->row_floats + sizeof(int64_t) +
                        sizeof(const float *);
  if (plan->rows.taps > kMostScratch / entry) {
    return NotSupported("a row of the output depends on ", plan->rows.taps,
                        " rows of ", width,
                        " elements, too many for its scratch memory");
  }
  if (plan->half != nullptr) {
    plan->widened_floats = RoundUp(input[2] * channels, 16);
  }
  plan->work_bytes = RoundUp(plan->rows.taps * entry, 64) +
                     plan->widened_floats * static_cast<int64_t>(sizeof(float));
  return MaceStatus();
}

void ResizePlan::PlanElements(int64_t channels) {
  const auto width = static_cast<int64_t>(columns.first.size()) * channels;
  const int64_t count =
      RoundUp(width, static_cast<int64_t>(resize::kElementBlock));
  element_first.assign(static_cast<size_t>(count), 0);
  element_weights.assign(static_cast<size_t>(count * columns.taps), 0.0f);
  for (int64_t i = 0; i < width; ++i) {
    const int64_t x = i / channels;
    element_first[static_cast<size_t>(i)] = static_cast<int32_t>(
        columns.first[static_cast<size_t>(x)] * channels + i % channels);
    for (int64_t k = 0; k < columns.taps; ++k) {
      element_weights[static_cast<size_t>(k * count + i)] =
          columns.weights[static_cast<size_t>(x * columns.taps + k)];
    }
  }
}

ResizePlan::Work ResizePlan::WorkOf(void *scratch, int thread) const {
  uint8_t *const at = static_cast<uint8_t *>(scratch) + thread * work_bytes;
  Work work;
  work.widened = reinterpret_cast<float *>(at);
  work.rows = work.widened + widened_floats;
  work.in_place =
      reinterpret_cast<int64_t *>(work.rows + rows.taps * row_floats);
  work.wanted = reinterpret_cast<const float **>(work.in_place + rows.taps);
  return work;
}

void ResizePlan::ResampleRow(const Tensor *input,
                             int64_t row,
                             const Work &work,
                             float *out) const {
  const int64_t width = input->shape[2];
  const int64_t channels = input->shape[3];
  int64_t pixel = input->RowStride();
  const int64_t offset = row * width * pixel;
  const float *from = work.widened;
  if (half == nullptr) {
    from = input->As<float>() + offset;
  } else {
    const uint16_t *pixels = input->As<uint16_t>() + offset;
    const int64_t run = pixel == channels ? width : 1;
    for (int64_t x = 0; x < width; x += run) {
      half->widen(pixels + x * pixel, work.widened + x * channels,
                  static_cast<size_t>(run * channels));
    }
    pixel = channels;
  }
  if (!element_first.empty()) {
    resize::ElementRow elements;
    elements.input = from;
    elements.tap_stride = static_cast<size_t>(pixel);
    elements.count = element_first.size();
    elements.first = element_first.data();
    elements.weights = element_weights.data();
    elements.taps = static_cast<size_t>(columns.taps);
    kernels->elements(elements, out);
    return;
  }
  resize::PixelRow pixels;
  pixels.input = from;
  pixels.pixel_stride = static_cast<size_t>(pixel);
  pixels.channels = static_cast<size_t>(input->shape[3]);
  pixels.width = columns.first.size();
  pixels.first = columns.first.data();
  pixels.weights = columns.weights.data();
  pixels.taps = static_cast<size_t>(columns.taps);
  kernels->pixels(pixels, out);
}

void ResizePlan::BlendHalf(const float **from,
                           const float *weights,
                           size_t taps,
                           int64_t count,
                           uint16_t *out) const {
  alignas(64) float block[kHalfBlock];
  for (int64_t at = 0; at < count; at += kHalfBlock) {
    const int64_t left = std::min(kHalfBlock, count - at);
    const auto n = static_cast<size_t>(left);
    kernels->blend(from, weights, taps, n, block);
    half->narrow(block, out + at, n);
    for (size_t k = 0; k < taps; ++k) from[k] += left;
  }
}

void ResizePlan::RunRow(const Tensor *input,
                        int64_t row,
                        const Work &work,
                        Tensor *output) const {
  const auto y = static_cast<size_t>(row % output->shape[1]);
  const float *weights =
      rows.weights.data() + y * static_cast<size_t>(rows.taps);
  // Rows of weight 0 on either side only pad the table.
  int64_t begin = 0;
  int64_t end = rows.taps;
  while (end - begin > 1 && weights[begin] == 0) ++begin;
  while (end - begin > 1 && weights[end - 1] == 0) --end;
  const int64_t first =
      row / output->shape[1] * input->shape[1] + rows.first[y];
  for (int64_t k = begin; k < end; ++k) {
    const int64_t place = (first + k) % rows.taps;
    float *at = work.rows + place * row_floats;
    if (work.in_place[place] != first + k) {
      ResampleRow(input, first + k, work, at);
      work.in_place[place] = first + k;
    }
    work.wanted[k] = at;
  }
  const auto taps = static_cast<size_t>(end - begin);
  const int64_t channels = output->shape[3];
  const int64_t stride = output->RowStride();
  const int64_t offset = row * output->shape[2] * stride;
  const float **wanted = work.wanted + begin;
  weights += begin;
  if (half != nullptr) {
    uint16_t *out = output->MutableAs<uint16_t>() + offset;
    const int64_t run = stride == channels ? output->shape[2] : 1;
    for (int64_t x = 0; x < output->shape[2]; x += run, out += stride) {
      BlendHalf(wanted, weights, taps, run * channels, out);
    }
    return;
  }
  float *out = output->MutableAs<float>() + offset;
  if (stride == channels) {
    kernels->blend(wanted, weights, taps,
                   static_cast<size_t>(output->shape[2] * channels), out);
    return;
  }
  for (int64_t x = 0; x < output->shape[2]; ++x, out += stride) {
    kernels->blend(wanted, weights, taps, static_cast<size_t>(channels), out);
    for (size_t k = 0; k < taps; ++k) wanted[k] += channels;
  }
}

MaceStatus ResizeOp::Run(RunContext *context) const {
  const Tensor *input = context->input(kResizeInputInput);
  Tensor *output = context->output(0);
  if (output->elements() == 0) return MaceStatus();
  const auto &plan = context->PlanAs<ResizePlan>();
  ThreadPool *pool = context->thread_pool();
  const int64_t rows = output->shape[0] * output->shape[1];
  const int64_t width = output->shape[2] * output->shape[3];
  if (nearest()) {
    pool->ParallelFor(
        rows, RowGrain(width), [&](int64_t begin, int64_t end, int /*thread*/) {
          CopyNearestRows(plan.rows, plan.columns, *input, begin, end, output);
        });
    return MaceStatus();
  }
  // The first row of a task resizes all input rows that it needs, later rows
  // only the new ones: tasks are therefore long, but there are enough of them
  // for threads of different speed.
  const int64_t grain =
      std::max(RowGrain(width * (plan.rows.taps + plan.columns.taps)),
               rows / (kTasksPerThread * pool->thread_count()));
  pool->ParallelFor(rows, grain, [&](int64_t begin, int64_t end, int thread) {
    const ResizePlan::Work work = plan.WorkOf(context->scratch(), thread);
    std::fill_n(work.in_place, plan.rows.taps, -1);
    for (int64_t row = begin; row < end; ++row) {
      plan.RunRow(input, row, work, output);
    }
  });
  return MaceStatus();
}

}  // namespace

MACE_REGISTER_OP(Resize, CPU, ResizeOp);

}  // namespace mace
