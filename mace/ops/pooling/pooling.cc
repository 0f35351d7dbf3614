// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/pooling/pooling_schema.h"

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/kernels/cpu/pool/pool.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/window/window.h"

namespace mace {

namespace {

// Channels per task when there are few output rows, as in a global average:
// whole vectors of every ISA.
constexpr int64_t kChannelBlock = 128;
constexpr int64_t kFewRows = 8;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The taps of a window along one axis.
struct Taps {
  int64_t first = 0;   // position in the input of the first tap inside it
  int64_t inside = 0;  // taps inside the input
  int64_t padded = 0;  // taps inside the input or its declared padding
};

// The window that starts at `start`, which is at least -pad_before.
Taps TapsOf(int64_t start,
            int64_t kernel,
            int64_t dilation,
            int64_t size,
            int64_t pad_after) {
  Taps taps;
  const int64_t skip = start < 0 ? CeilDivide(-start, dilation) : 0;
  const int64_t end =
      std::min(kernel, start < size ? CeilDivide(size - start, dilation) : 0);
  taps.first = start + skip * dilation;
  taps.inside = std::max<int64_t>(0, end - skip);
  const int64_t padded_size = size + pad_after;
  taps.padded = std::min(kernel, start < padded_size
                                     ? CeilDivide(padded_size - start, dilation)
                                     : 0);
  return taps;
}

class PoolingOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(attributes_.Parse(context->def()));
    kernels_ = pool::KernelsFor(isa());
    half_kernels_ = HalfArithmetic::For(isa(), context->hints().data_type).pool;
    spec_ = MakeWindowSpec(attributes_, attributes_.kernels[0],
                           attributes_.kernels[1]);
    spec_.ceil_mode = attributes_.ceil_mode;
    return MaceStatus();
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *input = context->input(kPoolingInputInput);
    const Shape &shape = input->shape;
    if (shape.rank() != 4) {
      return Invalid("takes [N, H, W, C], not ", shape.ToString());
    }
    MACE_ASSIGN_OR_RETURN(geometry_,
                          ComputeWindow(name(), spec_, shape[1], shape[2]));
    output_ = {shape[0], geometry_.output[0], geometry_.output[1], shape[3]};
    context->AllowStridedInput(kPoolingInputInput);
    context->AllowStridedOutput(0);
    return SetOutput(context, 0, output_, input->data_type);
  }

  MaceStatus Run(RunContext *context) override {
    const Tensor *input = context->input(kPoolingInputInput);
    Tensor *output = context->output(0);
    if (output_.Elements() == 0) return MaceStatus();
    const int64_t channels = output_[3];
    const int64_t rows = output_[0] * output_[1];
    const int64_t block = rows < kFewRows ? kChannelBlock : channels;
    const int64_t blocks = CeilDivide(channels, block);
    // Reads of the input decide the cost.
    const int64_t row_cost =
        output_[2] * spec_.kernel[0] * spec_.kernel[1] * block;
    context->thread_pool()->ParallelFor(
        rows * blocks, RowGrain(row_cost),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t channel = item % blocks * block;
            RunRow(input, item / blocks, channel,
                   std::min(block, channels - channel), output);
          }
        });
    return MaceStatus();
  }

  HalfUse half_use() const override {
    return half_kernels_ != nullptr ? HalfUse::kFollows : HalfUse::kNone;
  }
  ConvPoolArgs Geometry() const override;

 private:
  // One row of output pixels; `row` counts over the batch.
  void RunRow(const Tensor *input,
              int64_t row,
              int64_t channel,
              int64_t channels,
              Tensor *output) const;

  PoolingAttributes attributes_;
  const pool::Kernels *kernels_ = nullptr;
  const pool::Kernels *half_kernels_ = nullptr;
  WindowSpec spec_;
  WindowGeometry geometry_;
  Shape output_;
};

void PoolingOp::RunRow(const Tensor *input,
                       int64_t row,
                       int64_t channel,
                       int64_t channels,
                       Tensor *output) const {
  const Shape &shape = input->shape;
  const int64_t pixel = input->RowStride();
  const int64_t out_pixel = output->RowStride();
  const int64_t line = shape[2] * pixel;
  // Offsets count elements up to where a kernel is called.
  const auto size = static_cast<int64_t>(DataTypeSize(input->data_type));
  const pool::Kernels &kernels =
      input->data_type == DataType::kFloat32 ? *kernels_ : *half_kernels_;
  const int64_t image = row / output_[1] * shape[1] * line + channel;
  const Taps v = TapsOf(
      row % output_[1] * spec_.stride[0] - geometry_.pad_before[0],
      spec_.kernel[0], spec_.dilation[0], shape[1], geometry_.pad_after[0]);
  pool::Window window;
  window.rows = static_cast<size_t>(v.inside);
  window.row_stride = spec_.dilation[0] * line;
  window.column_stride = spec_.dilation[1] * pixel;
  for (int64_t x = 0; x < output_[2]; ++x) {
    const Taps h =
        TapsOf(x * spec_.stride[1] - geometry_.pad_before[1], spec_.kernel[1],
               spec_.dilation[1], shape[2], geometry_.pad_after[1]);
    uint8_t *out = output->MutableAs<uint8_t>() +
                   ((row * output_[2] + x) * out_pixel + channel) * size;
    const auto count = static_cast<size_t>(channels);
    if (v.inside == 0 || h.inside == 0) {
      std::memset(out, 0, count * static_cast<size_t>(size));  // all padding
      continue;
    }
    window.columns = static_cast<size_t>(h.inside);
    window.first = input->As<uint8_t>() +
                   (image + v.first * line + h.first * pixel) * size;
    if (attributes_.mode == PoolingMode::MAX) {
      kernels.max(window, count, out);
      continue;
    }
    const int64_t divisor = attributes_.count_include_pad ? v.padded * h.padded
                                                          : v.inside * h.inside;
    kernels.average(window, static_cast<float>(divisor), count, out);
  }
}

ConvPoolArgs PoolingOp::Geometry() const {
  ConvPoolArgs args;
  for (int axis = 0; axis < 2; ++axis) {
    args.kernels.push_back(spec_.kernel[axis]);
    args.strides.push_back(static_cast<int>(spec_.stride[axis]));
    args.dilations.push_back(static_cast<int>(spec_.dilation[axis]));
    args.paddings.push_back(static_cast<int>(geometry_.pad_before[axis] +
                                             geometry_.pad_after[axis]));
  }
  const bool same =
      spec_.padding == Padding::SAME || spec_.padding == Padding::SAME_LOWER;
  args.padding_type = same ? 1 : (spec_.padding == Padding::VALID ? 0 : -1);
  return args;
}

}  // namespace

MACE_REGISTER_OP(Pooling, CPU, PoolingOp);

}  // namespace mace
