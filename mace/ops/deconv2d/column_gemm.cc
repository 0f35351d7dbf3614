// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/deconv2d/column_gemm.h"

#include <algorithm>
#include <cstring>

#include "mace/ops/epilogue/arithmetic_choice.h"

namespace mace {
namespace {

constexpr size_t Align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }
constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }
constexpr int64_t CeilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
constexpr int64_t ToPanels(int64_t columns) {
  constexpr int64_t kWidth = gemm::kPanelColumns;
  return CeilDiv(columns, kWidth) * kWidth;
}

// To store a product, load it again and add it, in multiplications. On Zen 5 it
// is less than 13 of them almost always, with AVX-512 and AVX2, over 28x28
// pixels of 4 to 128 channels to 3, 12, 13 and 21.
constexpr int64_t kSumCost = 8;
// Of the products of a strip: half of a small second-level cache.
constexpr int64_t kRingBytes = 256 * 1024;
// Pixels of input: a narrower strip is mostly border, and the product of fewer
// rows reads its weights too often.
constexpr int64_t kLeastPixels = 32;
constexpr int64_t kRowsOfProduct = 96;

// Rows of input that an output may meet, at most.
int64_t RowsMet(const TransposedAxis &axis) {
  return (axis.kernel - 1) * axis.dilation / axis.stride + 1;
}

}  // namespace

struct ColumnGemm::Task {
  const Plan *plan = nullptr;
  const float *input = nullptr;  // of the image
  float *output = nullptr;
  const Plan::Strip *strip = nullptr;
  int64_t row_begin = 0;  // of the output
  int64_t row_end = 0;
  float *ring = nullptr;  // [ring_rows][inputs of the strip][columns]
  const void **pixels = nullptr;
  const float **terms = nullptr;
};

bool ColumnGemm::Pays(const Tensor &filter,
                      const TransposedAxis &rows,
                      const TransposedAxis &columns) {
  if (filter.groups != 1) return false;
  const Shape &f = filter.shape;
  const int64_t taps = f[1] * f[2];
  const int64_t pixel = ToPanels(taps * f[0]);
  const int64_t met = RowsMet(rows);
  // A strip would be all border, or its ring leave the cache.
  if (std::max(met, RowsMet(columns)) > kLeastPixels ||
      pixel * 4 * (met + 1) * kLeastPixels > 2 * kRingBytes) {
    return false;
  }
  return pixel * (f[3] + kSumCost) < taps * ToPanels(f[0]) * f[3];
}

void ColumnGemm::Init(const Tensor &filter,
                      const TransposedAxis &rows,
                      const TransposedAxis &columns,
                      const gemm::Arithmetic *kernels,
                      CpuIsa isa) {
  stored_kernels_ = kernels;
  gemm_ = gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, isa);
  col2im_ = col2im::KernelsFor(isa);
  filter_ = filter.shape;
  axes_[0] = rows;
  axes_[1] = columns;
}

size_t ColumnGemm::Columns() const {
  return Size(ToPanels(filter_.Elements(0, 3)));
}

size_t ColumnGemm::ConstantBytes() const {
  const size_t bias = Size(axes_[1].stride * filter_[0]) + col2im::kSlack;
  return Align(Columns() * Size(filter_[3]) * sizeof(float)) +
         Align(bias * sizeof(float));
}

// From [O / 16][KH * KW][C][16], C rounded up to pairs where they are stored,
// to [KH * KW * O / 16][C][16].
void ColumnGemm::LayOut(const Tensor &filter, const float *bias, void *memory) {
  constexpr size_t kWidth = gemm::kPanelColumns;
  const gemm::WeightType type = PackedWeightType(filter);
  const size_t outputs = Size(filter_[0]);
  const size_t depth = Size(filter_[3]);
  const size_t taps = Size(filter_[1] * filter_[2]);
  auto *weights = static_cast<float *>(memory);
  const size_t count = Columns() * depth;
  std::fill(weights, weights + count, 0.0f);

  gemm::Block block;
  block.w = filter.data;
  block.w_type = type;
  block.taps = taps;
  block.depth =
      type == gemm::WeightType::kBf16Pairs ? depth + depth % 2 : depth;
  constexpr size_t kRun = 64;  // even
  float widened[kRun * kWidth];
  const size_t panels = gemm::PanelCount(outputs);
  for (size_t at = 0; at < panels * taps; ++at) {
    const size_t panel = at / taps;
    const size_t tap = at % taps;
    const size_t first = panel * kWidth;
    const size_t lanes = std::min(kWidth, outputs - first);
    for (size_t begin = 0; begin < block.depth; begin += kRun) {
      const size_t k_begin = tap * block.depth + begin;
      const size_t run = std::min(kRun, block.depth - begin);
      const float *from = widened;
      if (type == gemm::WeightType::kF32) {
        from = static_cast<const float *>(filter.data) +
               (panel * taps * depth + k_begin) * kWidth;
      } else {
        stored_kernels_->widen(block, panel, k_begin, run, widened);
      }
      for (size_t i = 0; i < run && begin + i < depth; ++i) {
        for (size_t lane = 0; lane < lanes; ++lane) {
          const size_t column = tap * outputs + first + lane;
          weights[(column / kWidth * depth + begin + i) * kWidth +
                  column % kWidth] = from[i * kWidth + lane];
        }
      }
    }
  }
  weights_ = weights;

  float *biases = weights + Align(count * sizeof(float)) / sizeof(float);
  const size_t bias_count = Size(axes_[1].stride) * outputs;
  for (size_t i = 0; i < bias_count; ++i) {
    biases[i] = bias == nullptr ? 0.0f : bias[i % outputs];
  }
  std::fill(biases + bias_count, biases + bias_count + col2im::kSlack, 0.0f);
  bias_ = biases;
}

void ColumnGemm::FillPlan(const Shape &input,
                          const Shape &output,
                          int threads,
                          Plan *plan) const {
  plan->input = input;
  plan->output = output;
  const auto pixel = static_cast<int64_t>(Columns() * sizeof(float));
  const int64_t met = RowsMet(axes_[0]);
  const int64_t most = std::max(kLeastPixels, kRingBytes / (pixel * (met + 1)));
  const int64_t strips = CeilDiv(input[2], most);
  const int64_t width = CeilDiv(output[2], strips);
  for (int64_t begin = 0; begin < output[2]; begin += width) {
    const int64_t end = std::min(begin + width, output[2]);
    Plan::Strip strip{begin, end, InputsMet(axes_[1], input[2], begin, end),
                      ColumnPieces(axes_[1], input[2], begin, end)};
    plan->strip_inputs =
        std::max(plan->strip_inputs, strip.inputs.end - strip.inputs.begin);
    plan->strips.push_back(std::move(strip));
  }
  plan->row_chunk =
      std::min(input[1], CeilDiv(kRowsOfProduct, plan->strip_inputs));
  plan->ring_rows = std::min(input[1], met + plan->row_chunk - 1);

  // What lies at a border is multiplied twice: bands are at least four times
  // as high as that where threads would otherwise be idle, once each.
  const auto rest = static_cast<int64_t>(plan->strips.size()) * output[0];
  const int64_t border = std::max<int64_t>(1, (met - 1) * axes_[0].stride);
  const int64_t even = threads == 1 ? 1 : CeilDiv(2 * threads, rest);
  const int64_t idle = CeilDiv(threads, rest);
  plan->bands = std::clamp<int64_t>(output[1] / (4 * border),
                                    std::min<int64_t>(idle, output[1]), even);
}

size_t ColumnGemm::Terms() const { return Size(filter_[1] * filter_[2]); }

size_t ColumnGemm::RingBytes(const Plan &plan) const {
  return (Size(plan.ring_rows * plan.strip_inputs) * Columns() +
          col2im::kSlack) *
         sizeof(float);
}

size_t ColumnGemm::PixelBytes(const Plan &plan) const {
  return Size(plan.row_chunk * plan.strip_inputs) * sizeof(const void *);
}

size_t ColumnGemm::ScratchBytes(const Plan &plan, int threads) const {
  return (Align(RingBytes(plan)) + Align(PixelBytes(plan)) +
          Align(Terms() * sizeof(const float *))) *
         Size(threads);
}

// Rows [begin, end) of input, which lie in the ring side by side.
void ColumnGemm::MultiplyRows(const Task &task,
                              int64_t begin,
                              int64_t end) const {
  const Plan &plan = *task.plan;
  const InputRange &range = task.strip->inputs;
  const int64_t width = range.end - range.begin;
  const void **pixel = task.pixels;
  for (int64_t h = begin; h < end; ++h) {
    const float *from =
        task.input + (h * plan.input[2] + range.begin) * plan.input[3];
    for (int64_t w = 0; w < width; ++w, from += plan.input[3]) *pixel++ = from;
  }
  gemm::Block block;
  block.a = task.pixels;
  block.rows = Size((end - begin) * width);
  block.depth = Size(plan.input[3]);
  block.w = weights_;
  block.columns = Columns();
  block.panel_end = gemm::PanelCount(block.columns);
  block.c = task.ring + Size(begin % plan.ring_rows * width) * block.columns;
  block.c_stride = block.columns;
  gemm_->run(block);
}

void ColumnGemm::AddRow(const Task &task,
                        int64_t row,
                        const FusedActivation &activation) const {
  const Plan &plan = *task.plan;
  const TransposedAxis &rows = axes_[0];
  const int64_t channels = plan.output[3];
  const InputRange &range = task.strip->inputs;
  const auto pixel = static_cast<int64_t>(Columns());
  const int64_t ring_row = (range.end - range.begin) * pixel;
  float *to = task.output + row * plan.output[2] * channels;

  col2im::Runs runs;
  runs.from = task.terms;
  runs.from_step = Size(pixel);
  runs.bias = bias_;
  runs.to_step = Size(axes_[1].stride * channels);
  runs.clamp = activation.clamp();
  runs.low = activation.low();
  runs.high = activation.high();
  for (const ColumnPiece &piece : task.strip->pieces) {
    size_t count = 0;
    for (int64_t k = 0; k < rows.kernel; ++k) {
      const int64_t position = row + rows.pad_before - k * rows.dilation;
      if (position < 0 || position % rows.stride != 0) continue;
      const int64_t h = position / rows.stride;
      if (h >= plan.input[1]) continue;
      const float *from =
          task.ring + h % plan.ring_rows * ring_row + k * filter_[2] * channels;
      for (const ColumnTerm &term : piece.terms) {
        task.terms[count++] =
            from + (term.input - range.begin) * pixel + term.tap * channels;
      }
    }
    runs.terms = count;
    runs.to = to + piece.first * channels;
    runs.length = Size(piece.length * channels);
    runs.count = Size(piece.count);
    col2im_->add(runs);
  }
  const int64_t made =
      (task.strip->output_end - task.strip->output_begin) * channels;
  activation.Apply(to + task.strip->output_begin * channels, 1,
                   static_cast<ptrdiff_t>(made), static_cast<ptrdiff_t>(made));
}

void ColumnGemm::RunTask(Task *task, const FusedActivation &activation) const {
  const Plan &plan = *task->plan;
  const InputRange rows =
      InputsMet(axes_[0], plan.input[1], task->row_begin, task->row_end);
  int64_t next = rows.begin;  // of input
  for (int64_t row = task->row_begin; row < task->row_end; ++row) {
    const int64_t needed = InputsMet(axes_[0], plan.input[1], row, row + 1).end;
    while (next < needed) {
      // As many as may come before the ring begins again.
      const int64_t end =
          std::min({next + plan.row_chunk, rows.end,
                    next - next % plan.ring_rows + plan.ring_rows});
      MultiplyRows(*task, next, end);
      next = end;
    }
    AddRow(*task, row, activation);
  }
}

void ColumnGemm::Run(const Plan &plan,
                     const float *input,
                     float *output,
                     const FusedActivation &activation,
                     ThreadPool *pool,
                     void *scratch) const {
  const size_t per_thread = ScratchBytes(plan, 1);
  const auto strips = static_cast<int64_t>(plan.strips.size());
  pool->ParallelFor(
      plan.output[0] * plan.bands * strips, 1,
      [&](int64_t begin, int64_t end, int thread) {
        char *memory = static_cast<char *>(scratch) + Size(thread) * per_thread;
        auto take = [&](size_t bytes) {
          void *taken = memory;
          memory += Align(bytes);
          return taken;
        };
        Task task;
        task.plan = &plan;
        task.ring = static_cast<float *>(take(RingBytes(plan)));
        task.pixels = static_cast<const void **>(take(PixelBytes(plan)));
        task.terms =
            static_cast<const float **>(take(Terms() * sizeof(const float *)));
        for (int64_t i = begin; i < end; ++i) {
          const int64_t n = i / strips / plan.bands;
          const int64_t band = i / strips % plan.bands;
          task.input = input + n * plan.input.Elements(1, 4);
          task.output = output + n * plan.output.Elements(1, 4);
          task.strip = &plan.strips[Size(i % strips)];
          task.row_begin = plan.output[1] * band / plan.bands;
          task.row_end = plan.output[1] * (band + 1) / plan.bands;
          RunTask(&task, activation);
        }
      });
}

}  // namespace mace
