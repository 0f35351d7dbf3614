// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A row of the output needs some rows of the input: their maximum or sum, over
// depth and height, is a row in the cache of the width of the input, along
// which the window moves in a second step. Some rows are in the cache at the
// same time, so that the second step does not wait for what the first one
// stores.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "mace/core/base/divide.h"
#include "mace/kernels/cpu/pool/lines.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/pooling/volume_pooling.h"

namespace mace {
namespace {

// Rows between the two steps: at most so many, and about so many bytes.
constexpr int64_t kMostRows = 32;
constexpr int64_t kRowsBytes = 16 * 1024;

constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }

struct VolumePoolingPlan final : OpPlan {
  VolumeWindows windows;
  int64_t slices = 0;  // of the output
  int64_t rows = 0;    // between the steps
  int64_t line = 0;    // floats of each
  bool one_step = false;
  std::vector<float> divisors;  // of the columns; only for averages
  std::vector<char> empty;      // columns without any input element, or nothing
};

class VolumePoolingOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<VolumePoolingAttributes>();
    average_ = attributes_.mode == VolumePoolingMode::AVG;
    kernels_ = pool::LineKernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override;
  MaceStatus Run(RunContext *context) const override;

 private:
  int64_t CountOf(const WindowTaps &taps) const {
    return attributes_.count_include_pad ? taps.padded : taps.inside;
  }
  void RunSlice(const VolumePoolingPlan &plan,
                const float *x,
                int64_t depth,
                float *rows,
                float *y) const;
  // The second step.
  void RunLines(const VolumePoolingPlan &plan,
                const float *rows,
                const float *divisors,
                int64_t count,
                float *y) const;

  VolumePoolingAttributes attributes_;
  bool average_ = false;
  const pool::LineKernels *kernels_ = nullptr;
};

MaceStatus VolumePoolingOp::Plan(PlanContext *context) {
  const Shape &input = context->input(kVolumePoolingInputInput)->shape;
  auto plan = std::make_unique<VolumePoolingPlan>();
  MACE_ASSIGN_OR_RETURN(plan->windows, WindowsOfVolume(attributes_, input));
  const WindowAxis &across = plan->windows.axis[2];
  plan->slices = input[0] * input[1] * plan->windows.axis[0].output;
  plan->one_step = !average_ && across.kernel == 1 && across.stride == 1 &&
                   across.pad_before + across.pad_after == 0;
  if (!plan->one_step) {
    plan->line = static_cast<int64_t>(
        pool::LineFloats(Size(across.output), Size(across.kernel),
                         Size(across.stride), Size(across.dilation)));
    plan->line = std::max(plan->line, across.pad_before + across.size);
    const int64_t fit = kRowsBytes / (plan->line * int64_t{sizeof(float)});
    plan->rows = std::clamp<int64_t>(fit, 1, kMostRows);
    const int64_t threads = context->thread_pool()->thread_count();
    context->RequestScratch(Size(threads * plan->rows * plan->line) *
                            sizeof(float));
  }
  for (int64_t column = 0; column < across.output; ++column) {
    const WindowTaps taps = TapsOf(across, column);
    if (average_) {
      plan->divisors.push_back(static_cast<float>(CountOf(taps)));
    }
    if (taps.inside > 0) continue;
    plan->empty.resize(Size(across.output));
    plan->empty[Size(column)] = 1;
  }
  context->Keep(std::move(plan));
  return MaceStatus();
}

MaceStatus VolumePoolingOp::Run(RunContext *context) const {
  const auto &plan = context->PlanAs<VolumePoolingPlan>();
  const auto &[down, along, across] = plan.windows.axis;
  const float *x = context->input(kVolumePoolingInputInput)->As<float>();
  Tensor *output = context->output(0);
  if (output->elements() == 0) return MaceStatus();
  float *y = output->MutableAs<float>();
  auto *scratch = static_cast<float *>(context->scratch());
  const int64_t volume = down.size * along.size * across.size;
  const int64_t slice = along.output * across.output;
  const int64_t taps = down.kernel * along.kernel + across.kernel;
  context->thread_pool()->ParallelFor(
      plan.slices, RowGrain(slice * taps),
      [&, outputs = down.output](int64_t begin, int64_t end, int thread) {
        float *rows = scratch + thread * plan.rows * plan.line;
        const float outside =
            average_ ? 0.0f : -std::numeric_limits<float>::infinity();
        std::fill_n(rows, plan.rows * plan.line, outside);
        for (int64_t i = begin; i < end; ++i) {
          RunSlice(plan, x + i / outputs * volume, i % outputs, rows,
                   y + i * slice);
        }
      });
  return MaceStatus();
}

void VolumePoolingOp::RunSlice(const VolumePoolingPlan &plan,
                               const float *x,
                               int64_t depth,
                               float *rows,
                               float *y) const {
  const auto &[down, along, across] = plan.windows.axis;
  const WindowTaps d = TapsOf(down, depth);
  pool::Across taps;
  taps.planes = Size(d.inside);
  taps.plane_stride = down.dilation * along.size * across.size;
  taps.row_stride = along.dilation * across.size;
  taps.width = Size(across.size);
  float divisors[kMostRows];
  int64_t count = 0;  // of rows between the steps
  for (int64_t row = 0; row < along.output; ++row, y += across.output) {
    const WindowTaps h = TapsOf(along, row);
    taps.x = x + (d.first * along.size + h.first) * across.size;
    taps.rows = Size(h.inside);
    taps.y = plan.one_step ? y : rows + count * plan.line + across.pad_before;
    const bool is_empty = d.inside == 0 || h.inside == 0;
    if (is_empty) {
      std::fill_n(taps.y, across.size, 0.0f);
    } else {
      (average_ ? kernels_->sum_across : kernels_->max_across)(taps);
    }
    if (plan.one_step) continue;
    divisors[count++] =
        is_empty ? 1.0f : static_cast<float>(CountOf(d) * CountOf(h));
    if (count < plan.rows && row + 1 < along.output) continue;
    RunLines(plan, rows, divisors, count, y - (count - 1) * across.output);
    count = 0;
  }
}

void VolumePoolingOp::RunLines(const VolumePoolingPlan &plan,
                               const float *rows,
                               const float *divisors,
                               int64_t count,
                               float *y) const {
  const WindowAxis &across = plan.windows.axis[2];
  pool::Along lines;
  lines.x = rows;
  lines.x_stride = Size(plan.line);
  lines.rows = Size(count);
  lines.outputs = Size(across.output);
  lines.kernel = Size(across.kernel);
  lines.stride = Size(across.stride);
  lines.dilation = Size(across.dilation);
  lines.row_divisors = divisors;
  lines.divisors = plan.divisors.data();
  lines.y = y;
  (average_ ? kernels_->average_along : kernels_->max_along)(lines);
  if (plan.empty.empty()) return;
  for (int64_t i = 0; i < count * across.output; ++i) {
    if (plan.empty[Size(i % across.output)] != 0) y[i] = 0;
  }
}

MACE_REGISTER_OP(VolumePooling, CPU, VolumePoolingOp);

}  // namespace
}  // namespace mace
