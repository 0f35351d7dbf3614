// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A transposed convolution as matrix products: one convolution of stride 1 for
// each phase of the outputs (transposed_axis.h), with the filter elements of
// that phase. Every output is one sum in one chain, so that dividing the work
// differently does not change a bit, and no additions follow.
//
// A task of a phase computes its rows of outputs in scratch memory and copies
// them to their places, which are a stride apart: one copy from L2 per KH * KW
// * C / stride^2 products.

#include <algorithm>
#include <cstring>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/conv/bias_pixels.h"
#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/conv/transposed_axis.h"

namespace mace::conv {
namespace {

constexpr ptrdiff_t Index(int64_t x) { return static_cast<ptrdiff_t>(x); }
constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }

size_t HeaderBytes(WeightType type) {
  return type == WeightType::kI8 ? gemm::kScaleBytes : 0;
}

// Converts [depth / 2][16][2], with the depth rounded up, to [depth][16].
void SplitPairs(const uint16_t *from, size_t depth, uint16_t *to) {
  for (size_t k = 0; k < depth; ++k) {
    for (size_t n = 0; n < gemm::kPanelColumns; ++n) {
      *to++ = from[(k / 2 * gemm::kPanelColumns + n) * 2 + k % 2];
    }
  }
}

// The filter of all plans, in the order of the phases.
struct PhaseFilter {
  // The part of one pair of phases.
  struct Part {
    TransposedPhase row;
    TransposedPhase column;
    size_t offset = 0;  // bytes
  };

  explicit PhaseFilter(const Request &request);
  void LayOut(const void *filter, void *memory);

  WeightType stored_type;
  WeightType type;  // as laid out
  TransposedAxis axes[2];
  std::vector<TransposedPhase> phases[2];
  size_t depth;            // channels of a group
  size_t panels;           // of all groups
  bool has_unmet = false;  // some phases have no filter elements
  std::vector<Part> parts;
  size_t bytes = 0;
  const char *laid_out = nullptr;  // null until needed
};

PhaseFilter::PhaseFilter(const Request &request)
    : stored_type(request.weights),
      // The filter is copied anyway, so pairs, which pad odd channels, are not
      // needed.
      type(request.weights == WeightType::kBf16Pairs ? WeightType::kBf16
                                                     : request.weights) {
  const Shape &s = request.shape;
  AxesOf(s, axes);
  for (int i = 0; i < 2; ++i) {
    phases[i] = TransposedPhases(axes[i]);
    has_unmet |= std::any_of(phases[i].begin(), phases[i].end(),
                             [](const auto &p) { return p.taps == 0; });
  }
  depth = Size(s.in_c / s.groups);
  panels = Size(s.groups) * gemm::PanelCount(Size(s.out_c / s.groups));
  for (const TransposedPhase &row : phases[0]) {
    if (row.taps == 0) continue;
    for (const TransposedPhase &column : phases[1]) {
      const size_t products = Size(row.taps * column.taps) * depth;
      if (products == 0) continue;
      parts.push_back({row, column, bytes});
      bytes += AlignUp(panels * gemm::PanelBytes(type, products));
    }
  }
}

void PhaseFilter::LayOut(const void *filter, void *memory) {
  laid_out = static_cast<const char *>(memory);
  const bool pairs = stored_type == WeightType::kBf16Pairs;
  const size_t header = HeaderBytes(type);
  const size_t tap_bytes = gemm::PanelBytes(type, depth) - header;
  const size_t from_tap_bytes =
      gemm::PanelBytes(stored_type, pairs ? depth + depth % 2 : depth) - header;
  const int64_t kernel_w = axes[1].kernel;
  const size_t taps = Size(axes[0].kernel * kernel_w);
  const size_t from_panel_bytes = header + taps * from_tap_bytes;
  for (const Part &part : parts) {
    char *to = static_cast<char *>(memory) + part.offset;
    for (size_t panel = 0; panel < panels; ++panel) {
      const char *from =
          static_cast<const char *>(filter) + panel * from_panel_bytes;
      std::memcpy(to, from, header);
      to += header;
      for (int64_t i = 0; i < part.row.taps; ++i) {
        const int64_t h = part.row.last_tap - i * part.row.tap_step;
        for (int64_t j = 0; j < part.column.taps; ++j, to += tap_bytes) {
          const int64_t w = part.column.last_tap - j * part.column.tap_step;
          const char *tap =
              from + header + Size(h * kernel_w + w) * from_tap_bytes;
          if (pairs) {
            SplitPairs(reinterpret_cast<const uint16_t *>(tap), depth,
                       reinterpret_cast<uint16_t *>(to));
          } else {
            std::memcpy(to, tap, tap_bytes);
          }
        }
      }
    }
  }
}

class PhasesPlan final : public Plan {
 public:
  // `filter` belongs to the strategy.
  PhasesPlan(const Request &request, PhaseFilter *filter);

  std::string Name() const override {
    return "gemm in " + std::to_string(phases_.size()) + " phase(s)";
  }
  size_t ScratchBytes(int threads) const override {
    return PerThread() * static_cast<size_t>(threads);
  }
  bool ResidualMayBeOutput() const override { return false; }
  size_t PreparedBytes() const override {
    return filter_->laid_out == nullptr ? filter_->bytes : 0;
  }
  MaceStatus TakePrepared(void *memory) override {
    MACE_RETURN_IF_ERROR(CheckPrepared(memory, filter_->bytes));
    filter_->LayOut(model_filter_, memory);
    return MaceStatus();
  }
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override;

 private:
  struct Phase {
    DirectPlan direct;
    const PhaseFilter::Part *part = nullptr;
    int64_t first_task = 0;
  };

  size_t PerThread() const { return tile_bytes_ + scratch_bytes_; }
  void RunTask(const Phase &phase,
               const Args &args,
               const OutputActivation *activation,
               ptrdiff_t task,
               void *scratch) const;
  // `pixel`: memory for one pixel.
  void FillUnmet(const Args &args,
                 const OutputActivation *activation,
                 ThreadPool *pool,
                 float *pixel) const;

  PhaseFilter *filter_;
  const void *model_filter_;
  Shape shape_;
  std::vector<Phase> phases_;
  int64_t tasks_ = 0;
  size_t tile_bytes_ = 0;     // per thread
  size_t scratch_bytes_ = 0;  // per thread, beside the tile
};

PhasesPlan::PhasesPlan(const Request &request, PhaseFilter *filter)
    : filter_(filter), model_filter_(request.filter), shape_(request.shape) {
  tile_bytes_ = AlignUp(Size(shape_.out_c) * sizeof(float));
  for (const PhaseFilter::Part &part : filter->parts) {
    Shape s;
    s.batch = shape_.batch;
    s.in_h = shape_.in_h;
    s.in_w = shape_.in_w;
    s.in_c = shape_.in_c;
    s.kernel_h = Index(part.row.taps);
    s.kernel_w = Index(part.column.taps);
    s.dilation_h = Index(part.row.dilation);
    s.dilation_w = Index(part.column.dilation);
    s.pad_top = Index(part.row.pad);
    s.pad_left = Index(part.column.pad);
    s.out_h = Index(PhaseOutputs(part.row, filter->axes[0], shape_.out_h));
    s.out_w = Index(PhaseOutputs(part.column, filter->axes[1], shape_.out_w));
    s.out_c = shape_.out_c;
    s.groups = shape_.groups;
    if (s.out_h == 0 || s.out_w == 0) continue;
    Phase phase;
    DirectRequest direct;
    direct.shape = s;
    direct.w_type = filter->type;
    direct.arithmetic = request.arithmetic;
    direct.threads = request.threads;
    phase.direct = PlanDirect(direct);
    phase.part = &part;
    phase.first_task = tasks_;
    tasks_ += phase.direct.tasks;
    const size_t tile =
        Size(phase.direct.row_block * phase.direct.panel_block) *
        gemm::kPanelColumns * sizeof(float);
    tile_bytes_ = std::max(tile_bytes_, tile);
    scratch_bytes_ =
        std::max(scratch_bytes_, AlignUp(phase.direct.scratch_bytes));
    phases_.push_back(phase);
  }
}

void PhasesPlan::RunTask(const Phase &phase,
                         const Args &args,
                         const OutputActivation *activation,
                         ptrdiff_t task,
                         void *scratch) const {
  const DirectPlan &direct = phase.direct;
  const Region region = RegionOf(direct, task);
  const ptrdiff_t columns = region.column_end - region.column_begin;
  auto *tile = static_cast<float *>(scratch);
  Args own = args;
  own.weights = filter_->laid_out + phase.part->offset;
  own.output_stride = static_cast<size_t>(columns);
  // A task writes only its region. The address of the image of the phase is
  // chosen so that the region is at the start of the tile.
  const auto before =
      static_cast<uintptr_t>(region.row_begin * columns + region.column_begin);
  own.output = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(tile) -
                                        before * sizeof(float));
  RunDirectTask(direct, own, task, static_cast<char *>(scratch) + tile_bytes_);
  if (activation != nullptr) {
    activation->ApplyTo(tile, Element::kF32, region.row_end - region.row_begin,
                        columns, columns);
  }

  const ptrdiff_t down = Index(filter_->axes[0].stride);
  const ptrdiff_t across = Index(filter_->axes[1].stride);
  const ptrdiff_t step = across * static_cast<ptrdiff_t>(args.output_stride);
  const auto bytes = static_cast<size_t>(columns) * sizeof(float);
  const Shape &s = direct.shape;
  for (ptrdiff_t row = region.row_begin; row < region.row_end;) {
    const ptrdiff_t w = row % s.out_w;
    const ptrdiff_t h = row / s.out_w % s.out_h;
    const ptrdiff_t n = row / s.out_w / s.out_h;
    const ptrdiff_t end = std::min(region.row_end, row + s.out_w - w);
    const ptrdiff_t pixel =
        (n * shape_.out_h + h * down + Index(phase.part->row.first)) *
            shape_.out_w +
        w * across + Index(phase.part->column.first);
    float *to = static_cast<float *>(args.output) +
                pixel * static_cast<ptrdiff_t>(args.output_stride) +
                region.column_begin;
    for (; row < end; ++row, to += step, tile += columns) {
      std::memcpy(to, tile, bytes);
    }
  }
}

void PhasesPlan::FillUnmet(const Args &args,
                           const OutputActivation *activation,
                           ThreadPool *pool,
                           float *pixel) const {
  const ptrdiff_t channels = shape_.out_c;
  FillWithBias(args.epilogue, 1, channels, channels, pixel);
  if (activation != nullptr) {
    activation->ApplyTo(pixel, Element::kF32, 1, channels, channels);
  }
  const auto bytes = static_cast<size_t>(channels) * sizeof(float);
  // Rows per grain, so that using another thread is worthwhile.
  constexpr int64_t kFloats = 16 * 1024;
  const int64_t row_floats = int64_t{shape_.out_w} * channels;
  pool->ParallelFor(
      shape_.batch * shape_.out_h, std::max<int64_t>(1, kFloats / row_floats),
      [&](int64_t begin, int64_t end, int) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t h = row % shape_.out_h % filter_->axes[0].stride;
          const bool met = filter_->phases[0][Size(h)].taps > 0;
          for (int64_t w = 0; w < shape_.out_w; ++w) {
            const size_t phase = Size(w % filter_->axes[1].stride);
            if (met && filter_->phases[1][phase].taps > 0) continue;
            std::memcpy(static_cast<float *>(args.output) +
                            Index(row * shape_.out_w + w) *
                                static_cast<ptrdiff_t>(args.output_stride),
                        pixel, bytes);
          }
        }
      });
}

void PhasesPlan::Run(const Args &args,
                     const OutputActivation *activation,
                     ThreadPool *pool,
                     void *scratch) const {
  if (filter_->has_unmet) {
    FillUnmet(args, activation, pool, static_cast<float *>(scratch));
  }
  pool->ParallelFor(tasks_, 1, [&](int64_t begin, int64_t end, int thread) {
    char *own = static_cast<char *>(scratch) +
                static_cast<size_t>(thread) * PerThread();
    auto after = std::upper_bound(
        phases_.begin(), phases_.end(), begin,
        [](int64_t task, const Phase &p) { return task < p.first_task; });
    for (int64_t i = begin; i < end; ++i) {
      while (after != phases_.end() && after->first_task <= i) ++after;
      const Phase &phase = *(after - 1);
      RunTask(phase, args, activation, Index(i - phase.first_task), own);
    }
  });
}

class Phases final : public Strategy {
 public:
  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    if (request.layout != FilterLayout::kPanels || request.residual ||
        request.results != Element::kF32) {
      return nullptr;
    }
    if (filter_ == nullptr) filter_ = std::make_unique<PhaseFilter>(request);
    return std::make_unique<PhasesPlan>(request, filter_.get());
  }

 private:
  std::unique_ptr<PhaseFilter> filter_;
};

}  // namespace

std::unique_ptr<Strategy> MakeTransposedPhases() {
  return std::make_unique<Phases>();
}

}  // namespace mace::conv
