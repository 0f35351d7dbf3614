// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A transposed depthwise convolution, one row of outputs at a time. Outputs
// that are a stride apart form a row of a depthwise convolution of stride 1
// (transposed_axis.h); the kernel writes them directly to their places.

#include <algorithm>
#include <cstring>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/conv/bias_pixels.h"
#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/conv/transposed_axis.h"
#include "mace/kernels/cpu/dwconv/dwconv.h"

namespace mace::conv {
namespace {

constexpr ptrdiff_t Index(int64_t x) { return static_cast<ptrdiff_t>(x); }
constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }

size_t TapElementBytes(WeightType type) {
  return type == WeightType::kF32 ? sizeof(float) : sizeof(uint16_t);
}

// The filter of all plans: [phases of rows][phases of columns] convolution
// filters.
struct DepthwiseFilter {
  explicit DepthwiseFilter(const Request &request)
      : tap_bytes(Size(request.shape.out_c) *
                  TapElementBytes(request.weights)) {
    AxesOf(request.shape, axes);
    for (int i = 0; i < 2; ++i) phases[i] = TransposedPhases(axes[i]);
  }

  size_t Bytes() const {
    return Size(axes[0].kernel * axes[1].kernel) * tap_bytes;
  }
  void LayOut(const void *filter, void *memory);
  // The offset in bytes of the filter of a pair of phases.
  size_t Offset(const TransposedPhase &row,
                const TransposedPhase &column) const {
    return Size(row.taps_before * axes[1].kernel +
                row.taps * column.taps_before) *
           tap_bytes;
  }

  TransposedAxis axes[2];
  std::vector<TransposedPhase> phases[2];
  size_t tap_bytes;
  const char *laid_out = nullptr;  // null until needed
};

void DepthwiseFilter::LayOut(const void *filter, void *memory) {
  laid_out = static_cast<const char *>(memory);
  for (const TransposedPhase &row : phases[0]) {
    if (row.taps == 0) continue;
    for (const TransposedPhase &column : phases[1]) {
      char *to = static_cast<char *>(memory) + Offset(row, column);
      for (int64_t i = 0; i < row.taps; ++i) {
        const int64_t h = row.last_tap - i * row.tap_step;
        for (int64_t j = 0; j < column.taps; ++j, to += tap_bytes) {
          const int64_t w = column.last_tap - j * column.tap_step;
          std::memcpy(to,
                      static_cast<const char *>(filter) +
                          Size(h * axes[1].kernel + w) * tap_bytes,
                      tap_bytes);
        }
      }
    }
  }
}

class TransposedDepthwisePlan final : public Plan {
 public:
  // `filter` belongs to the strategy.
  TransposedDepthwisePlan(const Request &request,
                          const dwconv::Kernels *kernels,
                          const dwconv::FiveWideKernels *five_wide,
                          DepthwiseFilter *filter)
      : request_(request),
        kernels_(kernels),
        five_wide_(five_wide),
        filter_(filter) {
    for (const TransposedPhase &row : filter->phases[0]) {
      if (row.taps == 0) continue;
      for (const TransposedPhase &column : filter->phases[1]) {
        if (column.taps == 0) continue;
        thread_bytes_ = std::max(
            thread_bytes_, AlignUp(kernels->scratch_bytes(
                               RowShape(row, column, 0), request.weights)));
      }
    }
  }

  std::string Name() const override { return "dwconv"; }
  size_t ScratchBytes(int threads) const override {
    return thread_bytes_ * static_cast<size_t>(threads);
  }
  bool ResidualMayBeOutput() const override { return false; }
  size_t PreparedBytes() const override {
    return filter_->laid_out == nullptr ? filter_->Bytes() : 0;
  }
  MaceStatus TakePrepared(void *memory) override {
    MACE_RETURN_IF_ERROR(CheckPrepared(memory, filter_->Bytes()));
    filter_->LayOut(request_.filter, memory);
    return MaceStatus();
  }
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override;

 private:
  // The shape of the t-th row of a phase, with the columns of a phase.
  Shape RowShape(const TransposedPhase &row,
                 const TransposedPhase &column,
                 int64_t t) const;
  // Computes row `row` of the outputs, counted through the whole batch.
  void RunRow(const Args &args,
              const OutputActivation *activation,
              int64_t row,
              void *scratch) const;

  const Request request_;
  const dwconv::Kernels *kernels_;
  const dwconv::FiveWideKernels *five_wide_;
  DepthwiseFilter *filter_;
  size_t thread_bytes_ = 0;
};

Shape TransposedDepthwisePlan::RowShape(const TransposedPhase &row,
                                        const TransposedPhase &column,
                                        int64_t t) const {
  const Shape &whole = request_.shape;
  Shape s;
  s.in_h = whole.in_h;
  s.in_w = whole.in_w;
  s.in_c = whole.in_c;
  s.kernel_h = Index(row.taps);
  s.kernel_w = Index(column.taps);
  s.dilation_h = Index(row.dilation);
  s.dilation_w = Index(column.dilation);
  s.pad_top = Index(row.pad - t);
  s.pad_left = Index(column.pad);
  s.out_w = Index(PhaseOutputs(column, filter_->axes[1], whole.out_w));
  s.out_c = whole.out_c;
  s.groups = whole.groups;
  return s;
}

void TransposedDepthwisePlan::RunRow(const Args &args,
                                     const OutputActivation *activation,
                                     int64_t row,
                                     void *scratch) const {
  const Shape &s = request_.shape;
  const TransposedAxis(&axes)[2] = filter_->axes;
  const int64_t h = row % s.out_h;
  const auto stride = static_cast<ptrdiff_t>(args.output_stride);
  const ptrdiff_t step = Index(axes[1].stride) * stride;
  float *to = static_cast<float *>(args.output) + Index(row * s.out_w) * stride;
  const TransposedPhase &down = filter_->phases[0][Size(h % axes[0].stride)];
  for (const TransposedPhase &across : filter_->phases[1]) {
    const ptrdiff_t count = Index(PhaseOutputs(across, axes[1], s.out_w));
    if (count == 0) break;
    float *first = to + Index(across.first) * stride;
    if (down.taps == 0 || across.taps == 0) {
      FillWithBias(args.epilogue, count, s.out_c, step, first);
      continue;
    }
    dwconv::Args own;
    own.shape = RowShape(down, across, h / axes[0].stride);
    own.input = static_cast<const float *>(args.input) +
                Index(row / s.out_h) * s.in_h * s.in_w * s.in_c;
    own.filter = filter_->laid_out + filter_->Offset(down, across);
    own.type = request_.weights;
    own.output = first;
    own.output_stride = step;
    own.epilogue = args.epilogue;
    own.five_wide = five_wide_;
    kernels_->run(own, {0, 1, 0, s.groups}, scratch);
  }
  if (activation != nullptr) {
    activation->ApplyTo(to, Element::kF32, s.out_w, s.out_c, stride);
  }
}

void TransposedDepthwisePlan::Run(const Args &args,
                                  const OutputActivation *activation,
                                  ThreadPool *pool,
                                  void *scratch) const {
  // Rows per grain, so that using another thread is worthwhile.
  constexpr int64_t kFloats = 16 * 1024;
  const Shape &s = request_.shape;
  pool->ParallelFor(
      s.batch * s.out_h,
      std::max<int64_t>(1, kFloats / (int64_t{s.out_w} * s.out_c)),
      [&](int64_t begin, int64_t end, int thread) {
        void *own = static_cast<char *>(scratch) +
                    static_cast<size_t>(thread) * thread_bytes_;
        for (int64_t row = begin; row < end; ++row) {
          RunRow(args, activation, row, own);
        }
      });
}

class TransposedDepthwise final : public Strategy {
 public:
  explicit TransposedDepthwise(CpuIsa isa)
      : kernels_(dwconv::KernelsFor(isa)),
        five_wide_(dwconv::FiveWideKernelsFor(isa, Element::kF32)) {}

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    if (request.layout != FilterLayout::kTaps || request.residual ||
        request.results != Element::kF32) {
      return nullptr;
    }
    if (filter_ == nullptr) {
      filter_ = std::make_unique<DepthwiseFilter>(request);
    }
    return std::make_unique<TransposedDepthwisePlan>(request, kernels_,
                                                     five_wide_, filter_.get());
  }

 private:
  const dwconv::Kernels *kernels_;
  const dwconv::FiveWideKernels *five_wide_;
  std::unique_ptr<DepthwiseFilter> filter_;
};

}  // namespace

std::unique_ptr<Strategy> MakeTransposedDepthwise(CpuIsa isa) {
  return std::make_unique<TransposedDepthwise>(isa);
}

}  // namespace mace::conv
