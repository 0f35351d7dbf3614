// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/divide.h"
#include "mace/ops/pooling/pooling.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "mace/core/base/logging.h"
#include "mace/core/base/missing_part.h"
#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/kernels/cpu/optional_kernels.h"
#include "mace/kernels/cpu/pool/pool.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/pooling/line_pooling.h"

namespace mace {

namespace {

// Channels per task if there are few output rows, as in a global average: whole
// vectors on every ISA.
constexpr int64_t kChannelBlock = 128;
constexpr int64_t kFewRows = 8;

// Settings that depend on the attributes and the instruction set.
struct PoolingSettings {
  const pool::Kernels &KernelsOf(const Tensor &input) const {
    return input.data_type == DataType::kFloat32 ? *kernels : *half_kernels;
  }

  PoolingAttributes attributes;
  const pool::Kernels *kernels = nullptr;
  const pool::Kernels *half_kernels = nullptr;
};

class PoolingPlan : public OpPlan, protected RowBands {
 public:
  PoolingPlan(const WindowGeometry &geometry,
              const Shape &input,
              const Shape &output)
      : geometry_(geometry), input_(input), output_(output) {}

  virtual void Run(RunContext *context) const = 0;

  const RowBands *row_bands() const override {
    return output_.Elements() > 0 ? this : nullptr;
  }
  ConvPoolArgs Geometry() const override;

 protected:
  RowRange InputRows(const RowRange &output) const override {
    return RowsUnder(geometry_.axis[0], output);
  }

  const WindowGeometry geometry_;
  const Shape input_;
  const Shape output_;
};

// Vectors run over the channels of a pixel.
class PixelPlan final : public PoolingPlan {
 public:
  // `settings` belongs to the operator, which outlives the plan.
  PixelPlan(const PoolingSettings *settings,
            const WindowGeometry &geometry,
            const Shape &input,
            const Shape &output)
      : PoolingPlan(geometry, input, output), settings_(*settings) {}

  void Run(RunContext *context) const override;

 private:
  size_t BandScratchBytes(int64_t) const override { return 0; }
  void RunBand(const RunContext &context, const BandRun &run) const override;

  // Computes row `row` of an image's output at `y`, from `x`, which begins at
  // row `first` of the image; an element has `size` bytes.
  void RunRow(const pool::Kernels &kernels,
              const Pixels<const uint8_t> &x,
              int64_t first,
              int64_t row,
              int64_t channels,
              int64_t size,
              const Pixels<uint8_t> &y) const;

  const PoolingSettings &settings_;
};

// For few channels, with dense tensors. A library without their kernels makes
// no such plan, and the linker leaves out its code and that of LinePooling.
class LinePlan final : public PoolingPlan {
 public:
  LinePlan(const PoolingAttributes &attributes,
           const WindowGeometry &geometry,
           const Shape &input,
           const Shape &output,
           const pool::LineKernels &kernels)
      : PoolingPlan(geometry, input, output),
        lines_(attributes, geometry, output[3], kernels) {}

  // Of each thread.
  size_t ScratchBytes() const { return lines_.ScratchBytes(); }
  void Run(RunContext *context) const override;

 private:
  size_t BandScratchBytes(int64_t) const override { return ScratchBytes(); }
  void RunBand(const RunContext &context, const BandRun &run) const override;

  LinePooling lines_;
};

void PixelPlan::Run(RunContext *context) const {
  const Tensor *input = context->input(kPoolingInputInput);
  Tensor *output = context->output(0);
  if (output_.Elements() == 0) return;
  const int64_t channels = output_[3];
  const int64_t rows = output_[0] * output_[1];
  const int64_t block = rows < kFewRows ? kChannelBlock : channels;
  const int64_t blocks = DivideUp(channels, block);
  // The time depends mainly on reading the input.
  const int64_t row_cost =
      output_[2] * geometry_.axis[0].kernel * geometry_.axis[1].kernel * block;
  const pool::Kernels &kernels = settings_.KernelsOf(*input);
  const auto size = static_cast<int64_t>(DataTypeSize(input->data_type));
  const int64_t x_row = input_[2] * input->RowStride() * size;
  const int64_t y_row = output_[2] * output->RowStride() * size;
  context->thread_pool()->ParallelFor(
      rows * blocks, RowGrain(row_cost),
      [&](int64_t begin, int64_t end, int /*thread*/) {
        for (int64_t item = begin; item < end; ++item) {
          const int64_t row = item / blocks;
          const int64_t channel = item % blocks * block;
          const int64_t image = row / output_[1];
          const Pixels<const uint8_t> x = {
              input->As<uint8_t>() + image * input_[1] * x_row + channel * size,
              input->RowStride()};
          const Pixels<uint8_t> y = {
              output->MutableAs<uint8_t>() + row * y_row + channel * size,
              output->RowStride()};
          RunRow(kernels, x, 0, row % output_[1],
                 std::min(block, channels - channel), size, y);
        }
      });
}

void LinePlan::Run(RunContext *context) const {
  const auto *x = context->input(kPoolingInputInput)->As<float>();
  auto *y = context->output(0)->MutableAs<float>();
  const int64_t rows = output_[1];
  const int64_t image = input_.Elements(1, 4);
  const int64_t row_size = output_.Elements(2, 4);
  const int64_t taps = geometry_.axis[0].kernel + geometry_.axis[1].kernel;
  auto *scratch = static_cast<uint8_t *>(context->scratch());
  context->thread_pool()->ParallelFor(
      output_[0] * rows, RowGrain(row_size * taps),
      [=](int64_t begin, int64_t end, int thread) {
        void *own = scratch + static_cast<size_t>(thread) * ScratchBytes();
        while (begin < end) {
          const int64_t n = begin / rows;
          const RowRange range = {begin - n * rows,
                                  std::min(end - n * rows, rows)};
          lines_.Run(x + n * image, 0, range, own, y + begin * row_size);
          begin += range.count();
        }
      });
}

void LinePlan::RunBand(const RunContext & /*context*/,
                       const BandRun &run) const {
  lines_.Run(static_cast<const float *>(run.input), InputRows(run.rows).begin,
             run.rows, run.scratch, static_cast<float *>(run.output));
}

void PixelPlan::RunBand(const RunContext &context, const BandRun &run) const {
  const Tensor &input = *context.input(kPoolingInputInput);
  const auto size = static_cast<int64_t>(DataTypeSize(input.data_type));
  const Pixels<const uint8_t> x = {static_cast<const uint8_t *>(run.input),
                                   run.input_stride};
  Pixels<uint8_t> y = {static_cast<uint8_t *>(run.output), run.output_stride};
  const int64_t first = InputRows(run.rows).begin;
  for (int64_t row = run.rows.begin; row < run.rows.end; ++row) {
    RunRow(settings_.KernelsOf(input), x, first, row, output_[3], size, y);
    y.data += output_[2] * y.stride * size;
  }
}

void PixelPlan::RunRow(const pool::Kernels &kernels,
                       const Pixels<const uint8_t> &x,
                       int64_t first,
                       int64_t row,
                       int64_t channels,
                       int64_t size,
                       const Pixels<uint8_t> &y) const {
  const WindowAxis &down = geometry_.axis[0];
  const WindowAxis &across = geometry_.axis[1];
  const int64_t line = input_[2] * x.stride;
  const WindowTaps v = TapsOf(down, row);
  pool::Window window;
  window.rows = static_cast<size_t>(v.inside);
  window.row_stride = down.dilation * line;
  window.column_stride = across.dilation * x.stride;
  const auto count = static_cast<size_t>(channels);
  for (int64_t column = 0; column < output_[2]; ++column) {
    const WindowTaps h = TapsOf(across, column);
    uint8_t *out = y.data + column * y.stride * size;
    if (v.inside == 0 || h.inside == 0) {
      std::memset(out, 0, count * static_cast<size_t>(size));  // all padding
      continue;
    }
    window.columns = static_cast<size_t>(h.inside);
    window.first =
        x.data + ((v.first - first) * line + h.first * x.stride) * size;
    if (settings_.attributes.mode == PoolingMode::MAX) {
      kernels.max(window, count, out);
      continue;
    }
    const int64_t divisor = settings_.attributes.count_include_pad
                                ? v.padded * h.padded
                                : v.inside * h.inside;
    kernels.average(window, static_cast<float>(divisor), count, out);
  }
}

ConvPoolArgs PoolingPlan::Geometry() const {
  ConvPoolArgs args;
  for (const WindowAxis &axis : geometry_.axis) {
    args.kernels.push_back(axis.kernel);
    args.strides.push_back(static_cast<int>(axis.stride));
    args.dilations.push_back(static_cast<int>(axis.dilation));
    args.paddings.push_back(static_cast<int>(axis.pad_before + axis.pad_after));
  }
  const Padding padding = geometry_.padding;
  const bool same = padding == Padding::SAME || padding == Padding::SAME_LOWER;
  args.padding_type = same ? 1 : (padding == Padding::VALID ? 0 : -1);
  return args;
}

// Warns once per process, because the reason is the library, not one operator.
void WarnOfMissingLines() {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  LOG(WARNING) << kBuiltWithout
               << "FewChannels: images with few channels are pooled by slower "
                  "code"
               << kBuildForThisModel << ", or add -ops=FewChannels";
}

class PoolingOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    settings_.attributes = context->AttributesAs<PoolingAttributes>();
    settings_.kernels = pool::KernelsFor(isa());
    settings_.half_kernels =
        HalfTablesFor(isa(), context->hints().precision).pool;
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &shape = context->input(kPoolingInputInput)->shape;
    MACE_ASSIGN_OR_RETURN(const WindowGeometry geometry,
                          PoolingWindow(settings_.attributes, shape));
    const Tensor &input = *context->input(kPoolingInputInput);
    const Shape &output = context->output(0)->shape;
    if (output.Elements() > 0 && input.data_type == DataType::kFloat32 &&
        LinePooling::Fits(geometry, shape[3])) {
      const auto *part = OptionalKernels<pool::FewChannelsPart>::linked();
      if (part != nullptr) {
        auto plan = std::make_unique<LinePlan>(
            settings_.attributes, geometry, shape, output, *part->find(isa()));
        const int64_t threads = context->thread_pool()->thread_count();
        context->RequestScratch(static_cast<size_t>(threads) *
                                plan->ScratchBytes());
        context->Keep(std::move(plan));
        return MaceStatus();
      }
      WarnOfMissingLines();
    }
    context->AllowStridedInput(kPoolingInputInput);
    context->AllowStridedOutput(0);
    context->Keep(
        std::make_unique<PixelPlan>(&settings_, geometry, shape, output));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<PoolingPlan>().Run(context);
    return MaceStatus();
  }

 private:
  PoolingSettings settings_;
};

}  // namespace

MACE_REGISTER_OP(Pooling, CPU, PoolingOp);

}  // namespace mace
