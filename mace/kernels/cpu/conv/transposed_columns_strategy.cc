// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A transposed convolution with few output channels as one matrix product and
// additions: for every input pixel, the product computes KH * KW * O columns,
// its contributions to all outputs; then the contributions to each output are
// added up (col2im).
//
// One convolution per phase (transposed_phases_strategy.cc) needs no additions,
// but its products have only O columns, which fill only a part of a panel of
// 16.
//
// A task computes a rectangle of outputs, row by row. It multiplies the next
// rows of the input and stores the products in a ring buffer with as many rows
// as an output needs, which stays in L2. Products at the border of a rectangle
// are computed by both adjacent tasks. Every product and every sum has a fixed
// order, so that dividing the work differently does not change a bit.

#include <algorithm>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/col2im/col2im.h"
#include "mace/kernels/cpu/conv/column_pieces.h"
#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/conv/transposed_axis.h"

namespace mace::conv {
namespace {

constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }
constexpr int64_t CeilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
constexpr int64_t ToPanels(int64_t columns) {
  constexpr int64_t kWidth = gemm::kPanelColumns;
  return CeilDiv(columns, kWidth) * kWidth;
}

// The cost of storing a product, loading it again and adding it, in
// multiplications. On Zen 5, with AVX-512 and AVX2 and 28x28 pixels of 4 to 128
// channels to 3, 12, 13 and 21, it is almost always less than 13.
constexpr int64_t kSumCost = 8;
// The size of the products of a strip: half of a small L2.
constexpr int64_t kRingBytes = 256 * 1024;
// Pixels of input per strip: most of a narrower strip would be computed twice,
// and products of fewer rows would read their weights too often.
constexpr int64_t kLeastPixels = 32;
constexpr int64_t kRowsOfProduct = 96;

// The largest number of input rows that contribute to an output.
int64_t RowsMet(const TransposedAxis &axis) {
  return (axis.kernel - 1) * axis.dilation / axis.stride + 1;
}

// Whether this strategy is faster than one convolution per phase. This does not
// depend on the shape of the image, since the filter is rearranged only once.
// Not for several groups, whose columns would not be adjacent.
bool Pays(const Shape &s, const TransposedAxis (&axes)[2]) {
  if (s.groups != 1) return false;
  const int64_t taps = int64_t{s.kernel_h} * s.kernel_w;
  const int64_t pixel = ToPanels(taps * s.out_c);
  const int64_t met = RowsMet(axes[0]);
  // Otherwise most of a strip would be computed twice, or its ring would not
  // fit the cache.
  if (std::max(met, RowsMet(axes[1])) > kLeastPixels ||
      pixel * 4 * (met + 1) * kLeastPixels > 2 * kRingBytes) {
    return false;
  }
  return pixel * (s.in_c + kSumCost) < taps * ToPanels(s.out_c) * s.in_c;
}

// The rearranged filter and bias of all plans.
struct ColumnConstants {
  explicit ColumnConstants(const Shape &s)
      : depth(Size(s.in_c)),
        outputs(Size(s.out_c)),
        taps(Size(s.kernel_h * s.kernel_w)),
        columns(Size(ToPanels(s.kernel_h * s.kernel_w * s.out_c))) {
    AxesOf(s, axes);
  }

  size_t Bytes() const;
  void LayOut(const Request &request, void *memory);

  TransposedAxis axes[2];
  size_t depth;
  size_t outputs;
  size_t taps;
  size_t columns;                  // of the product
  const float *weights = nullptr;  // [panels][C][16]; null until needed
  const float *biases = nullptr;   // [stride][O], and slack
};

size_t ColumnConstants::Bytes() const {
  const size_t bias = Size(axes[1].stride) * outputs + col2im::kSlack;
  return AlignUp(columns * depth * sizeof(float)) +
         AlignUp(bias * sizeof(float));
}

// Converts [O / 16][KH * KW][C][16], where C is rounded up to an even number if
// stored in pairs, to [KH * KW * O / 16][C][16].
void ColumnConstants::LayOut(const Request &request, void *memory) {
  constexpr size_t kWidth = gemm::kPanelColumns;
  const WeightType type = request.weights;
  auto *to = static_cast<float *>(memory);
  const size_t count = columns * depth;
  std::fill(to, to + count, 0.0f);

  gemm::Block block;
  block.w = request.filter;
  block.w_type = type;
  block.taps = taps;
  block.depth = type == WeightType::kBf16Pairs ? depth + depth % 2 : depth;
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
      if (type == WeightType::kF32) {
        from = static_cast<const float *>(request.filter) +
               (panel * taps * depth + k_begin) * kWidth;
      } else {
        request.arithmetic->widen(block, panel, k_begin, run, widened);
      }
      for (size_t i = 0; i < run && begin + i < depth; ++i) {
        for (size_t lane = 0; lane < lanes; ++lane) {
          const size_t column = tap * outputs + first + lane;
          to[(column / kWidth * depth + begin + i) * kWidth + column % kWidth] =
              from[i * kWidth + lane];
        }
      }
    }
  }
  weights = to;

  const size_t floats = AlignUp(count * sizeof(float)) / sizeof(float);
  float *values = to + floats;
  const size_t bias_count = Size(axes[1].stride) * outputs;
  for (size_t i = 0; i < bias_count; ++i) {
    values[i] = request.bias == nullptr ? 0.0f : request.bias[i % outputs];
  }
  std::fill(values + bias_count, values + bias_count + col2im::kSlack, 0.0f);
  biases = values;
}

class ColumnsPlan final : public Plan {
 public:
  // `constants` belongs to the strategy.
  ColumnsPlan(const Request &request, CpuIsa isa, ColumnConstants *constants);

  std::string Name() const override { return "gemm and col2im"; }
  size_t ScratchBytes(int threads) const override {
    return (AlignUp(RingBytes()) + AlignUp(PixelBytes()) +
            AlignUp(constants_->taps * sizeof(const float *))) *
           Size(threads);
  }
  bool ResidualMayBeOutput() const override { return false; }
  // Columns are added up for several pixels at a time.
  bool OutputMayBeStrided() const override { return false; }
  size_t PreparedBytes() const override {
    return constants_->weights == nullptr ? constants_->Bytes() : 0;
  }
  MaceStatus TakePrepared(void *memory) override {
    MACE_RETURN_IF_ERROR(CheckPrepared(memory, constants_->Bytes()));
    constants_->LayOut(request_, memory);
    return MaceStatus();
  }
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override;

 private:
  // The columns of the output that a task computes.
  struct Strip {
    int64_t output_begin;
    int64_t output_end;
    InputRange inputs;
    std::vector<ColumnPiece> pieces;
  };
  struct Task {
    const float *input = nullptr;  // of the image
    float *output = nullptr;
    const Strip *strip = nullptr;
    int64_t row_begin = 0;  // of the output
    int64_t row_end = 0;
    float *ring = nullptr;  // [ring_rows][inputs of the strip][columns]
    const void **pixels = nullptr;
    const float **terms = nullptr;
  };

  size_t RingBytes() const {
    return (Size(ring_rows_ * strip_inputs_) * constants_->columns +
            col2im::kSlack) *
           sizeof(float);
  }
  size_t PixelBytes() const {
    return Size(row_chunk_ * strip_inputs_) * sizeof(const void *);
  }
  void MultiplyRows(const Task &task, int64_t begin, int64_t end) const;
  void AddRow(const Task &task,
              int64_t row,
              const gemm::Epilogue &epilogue,
              const OutputActivation *activation) const;
  void RunTask(Task *task,
               const gemm::Epilogue &epilogue,
               const OutputActivation *activation) const;

  const Request request_;
  const gemm::Arithmetic *gemm_;
  const col2im::Kernels *col2im_;
  ColumnConstants *constants_;
  std::vector<Strip> strips_;
  int64_t strip_inputs_ = 1;  // the most of a strip
  int64_t bands_ = 1;         // of rows of the output
  int64_t row_chunk_ = 1;     // rows of input that are multiplied at a time
  int64_t ring_rows_ = 1;
};

ColumnsPlan::ColumnsPlan(const Request &request,
                         CpuIsa isa,
                         ColumnConstants *constants)
    : request_(request),
      gemm_(gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, isa)),
      col2im_(col2im::KernelsFor(isa)),
      constants_(constants) {
  const Shape &s = request.shape;
  const TransposedAxis(&axes)[2] = constants->axes;
  const auto pixel = static_cast<int64_t>(constants->columns * sizeof(float));
  const int64_t met = RowsMet(axes[0]);
  const int64_t most = std::max(kLeastPixels, kRingBytes / (pixel * (met + 1)));
  const int64_t strips = CeilDiv(s.in_w, most);
  const int64_t width = CeilDiv(s.out_w, strips);
  for (int64_t begin = 0; begin < s.out_w; begin += width) {
    const int64_t end = std::min<int64_t>(begin + width, s.out_w);
    Strip strip{begin, end, InputsMet(axes[1], s.in_w, begin, end),
                ColumnPieces(axes[1], s.in_w, begin, end)};
    strip_inputs_ =
        std::max(strip_inputs_, strip.inputs.end - strip.inputs.begin);
    strips_.push_back(std::move(strip));
  }
  row_chunk_ =
      std::min<int64_t>(s.in_h, CeilDiv(kRowsOfProduct, strip_inputs_));
  ring_rows_ = std::min<int64_t>(s.in_h, met + row_chunk_ - 1);

  // Rows at the border of a band are multiplied twice: bands are at least four
  // times as high as these rows if this is needed to keep threads busy,
  // otherwise each thread gets one band.
  const auto rest = static_cast<int64_t>(strips_.size()) * s.batch;
  const int64_t border = std::max<int64_t>(1, (met - 1) * axes[0].stride);
  const int threads = request.threads;
  const int64_t even = threads == 1 ? 1 : CeilDiv(2 * threads, rest);
  const int64_t idle = CeilDiv(threads, rest);
  bands_ = std::clamp<int64_t>(s.out_h / (4 * border),
                               std::min<int64_t>(idle, s.out_h), even);
}

// Multiplies rows [begin, end) of the input, which are adjacent in the ring.
void ColumnsPlan::MultiplyRows(const Task &task,
                               int64_t begin,
                               int64_t end) const {
  const Shape &s = request_.shape;
  const InputRange &range = task.strip->inputs;
  const int64_t width = range.end - range.begin;
  const void **pixel = task.pixels;
  for (int64_t h = begin; h < end; ++h) {
    const float *from = task.input + (h * s.in_w + range.begin) * s.in_c;
    for (int64_t w = 0; w < width; ++w, from += s.in_c) *pixel++ = from;
  }
  gemm::Block block;
  block.a = task.pixels;
  block.rows = Size((end - begin) * width);
  block.depth = constants_->depth;
  block.w = constants_->weights;
  block.columns = constants_->columns;
  block.panel_end = gemm::PanelCount(block.columns);
  block.c = task.ring + Size(begin % ring_rows_ * width) * block.columns;
  block.c_stride = block.columns;
  gemm_->run(block);
}

void ColumnsPlan::AddRow(const Task &task,
                         int64_t row,
                         const gemm::Epilogue &epilogue,
                         const OutputActivation *activation) const {
  const Shape &s = request_.shape;
  const TransposedAxis &rows = constants_->axes[0];
  const TransposedAxis &across = constants_->axes[1];
  const int64_t channels = s.out_c;
  const InputRange &range = task.strip->inputs;
  const auto pixel = static_cast<int64_t>(constants_->columns);
  const int64_t ring_row = (range.end - range.begin) * pixel;
  float *to = task.output + row * s.out_w * channels;

  col2im::Runs runs;
  runs.from = task.terms;
  runs.from_step = Size(pixel);
  runs.bias = constants_->biases;
  runs.to_step = Size(across.stride * channels);
  runs.clamp = epilogue.clamp;
  runs.low = epilogue.low;
  runs.high = epilogue.high;
  for (const ColumnPiece &piece : task.strip->pieces) {
    size_t count = 0;
    for (int64_t k = 0; k < rows.kernel; ++k) {
      const int64_t position = row + rows.pad_before - k * rows.dilation;
      if (position < 0 || position % rows.stride != 0) continue;
      const int64_t h = position / rows.stride;
      if (h >= s.in_h) continue;
      const float *from =
          task.ring + h % ring_rows_ * ring_row + k * s.kernel_w * channels;
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
  if (activation == nullptr) return;
  const auto made = static_cast<ptrdiff_t>(
      (task.strip->output_end - task.strip->output_begin) * channels);
  activation->ApplyTo(to + task.strip->output_begin * channels, Element::kF32,
                      1, made, made);
}

void ColumnsPlan::RunTask(Task *task,
                          const gemm::Epilogue &epilogue,
                          const OutputActivation *activation) const {
  const TransposedAxis &axis = constants_->axes[0];
  const int64_t inputs = request_.shape.in_h;
  const InputRange rows =
      InputsMet(axis, inputs, task->row_begin, task->row_end);
  int64_t next = rows.begin;  // of input
  for (int64_t row = task->row_begin; row < task->row_end; ++row) {
    const int64_t needed = InputsMet(axis, inputs, row, row + 1).end;
    while (next < needed) {
      // As many rows as fit before the end of the ring.
      const int64_t end = std::min(
          {next + row_chunk_, rows.end, next - next % ring_rows_ + ring_rows_});
      MultiplyRows(*task, next, end);
      next = end;
    }
    AddRow(*task, row, epilogue, activation);
  }
}

void ColumnsPlan::Run(const Args &args,
                      const OutputActivation *activation,
                      ThreadPool *pool,
                      void *scratch) const {
  const Shape &s = request_.shape;
  const size_t per_thread = ScratchBytes(1);
  const auto strips = static_cast<int64_t>(strips_.size());
  pool->ParallelFor(
      s.batch * bands_ * strips, 1,
      [&](int64_t begin, int64_t end, int thread) {
        char *memory = static_cast<char *>(scratch) + Size(thread) * per_thread;
        auto take = [&](size_t bytes) {
          void *taken = memory;
          memory += AlignUp(bytes);
          return taken;
        };
        Task task;
        task.ring = static_cast<float *>(take(RingBytes()));
        task.pixels = static_cast<const void **>(take(PixelBytes()));
        task.terms = static_cast<const float **>(
            take(constants_->taps * sizeof(const float *)));
        for (int64_t i = begin; i < end; ++i) {
          const int64_t n = i / strips / bands_;
          const int64_t band = i / strips % bands_;
          task.input = static_cast<const float *>(args.input) +
                       n * s.in_h * s.in_w * s.in_c;
          task.output = static_cast<float *>(args.output) +
                        n * s.out_h * s.out_w * s.out_c;
          task.strip = &strips_[Size(i % strips)];
          task.row_begin = s.out_h * band / bands_;
          task.row_end = s.out_h * (band + 1) / bands_;
          RunTask(&task, args.epilogue, activation);
        }
      });
}

class Columns final : public Strategy {
 public:
  explicit Columns(CpuIsa isa) : isa_(isa) {}

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    TransposedAxis axes[2];
    AxesOf(request.shape, axes);
    if (request.layout != FilterLayout::kPanels || request.residual ||
        request.results != Element::kF32 || !Pays(request.shape, axes)) {
      return nullptr;
    }
    if (constants_ == nullptr) {
      constants_ = std::make_unique<ColumnConstants>(request.shape);
    }
    return std::make_unique<ColumnsPlan>(request, isa_, constants_.get());
  }

 private:
  CpuIsa isa_;
  std::unique_ptr<ColumnConstants> constants_;
};

}  // namespace

std::unique_ptr<Strategy> MakeTransposedColumns(CpuIsa isa) {
  return std::make_unique<Columns>(isa);
}

}  // namespace mace::conv
