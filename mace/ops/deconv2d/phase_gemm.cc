// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/deconv2d/phase_gemm.h"

#include <algorithm>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/bias_pixels.h"

namespace mace {
namespace {

constexpr size_t Align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }
constexpr ptrdiff_t Index(int64_t x) { return static_cast<ptrdiff_t>(x); }

size_t HeaderBytes(gemm::WeightType type) {
  return type == gemm::WeightType::kI8 ? gemm::kScaleBytes : 0;
}

// From [depth / 2][16][2], depth rounded up, to [depth][16].
void SplitPairs(const uint16_t *from, size_t depth, uint16_t *to) {
  for (size_t k = 0; k < depth; ++k) {
    for (size_t n = 0; n < gemm::kPanelColumns; ++n) {
      *to++ = from[(k / 2 * gemm::kPanelColumns + n) * 2 + k % 2];
    }
  }
}

}  // namespace

void PhaseGemm::Init(const Tensor &filter,
                     const TransposedAxis &rows,
                     const TransposedAxis &columns,
                     const gemm::Arithmetic *kernels) {
  kernels_ = kernels;
  stored_type_ = PackedWeightType(filter);
  // What is copied anyway needs no pairs, which would pad odd channels.
  type_ = stored_type_ == gemm::WeightType::kBf16Pairs ? gemm::WeightType::kBf16
                                                       : stored_type_;
  filter_ = filter.shape;
  groups_ = filter.groups;
  axes_[0] = rows;
  axes_[1] = columns;
  for (int i = 0; i < 2; ++i) {
    phases_[i] = TransposedPhases(axes_[i]);
    has_unmet_ |= std::any_of(phases_[i].begin(), phases_[i].end(),
                              [](const auto &p) { return p.taps == 0; });
  }
  const size_t panels =
      static_cast<size_t>(groups_) *
      gemm::PanelCount(static_cast<size_t>(filter_[0] / groups_));
  filter_bytes_ = 0;
  for (const TransposedPhase &row : phases_[0]) {
    if (row.taps == 0) continue;
    for (const TransposedPhase &column : phases_[1]) {
      const auto depth =
          static_cast<size_t>(row.taps * column.taps * filter_[3]);
      if (depth == 0) continue;
      parts_.push_back({row, column, filter_bytes_});
      filter_bytes_ += Align(panels * gemm::PanelBytes(type_, depth));
    }
  }
}

void PhaseGemm::LayOutFilter(const Tensor &filter, void *memory) {
  laid_out_ = static_cast<const char *>(memory);
  const auto depth = static_cast<size_t>(filter_[3]);
  const bool pairs = stored_type_ == gemm::WeightType::kBf16Pairs;
  const size_t header = HeaderBytes(type_);
  const size_t tap_bytes = gemm::PanelBytes(type_, depth) - header;
  const size_t from_tap_bytes =
      gemm::PanelBytes(stored_type_, pairs ? depth + depth % 2 : depth) -
      header;
  const auto taps = static_cast<size_t>(filter_[1] * filter_[2]);
  const size_t from_panel_bytes = header + taps * from_tap_bytes;
  const size_t panels =
      static_cast<size_t>(groups_) *
      gemm::PanelCount(static_cast<size_t>(filter_[0] / groups_));
  for (const Part &part : parts_) {
    char *to = static_cast<char *>(memory) + part.offset;
    for (size_t panel = 0; panel < panels; ++panel) {
      const char *from =
          static_cast<const char *>(filter.data) + panel * from_panel_bytes;
      std::memcpy(to, from, header);
      to += header;
      for (int64_t i = 0; i < part.row.taps; ++i) {
        const int64_t h = part.row.last_tap - i * part.row.tap_step;
        for (int64_t j = 0; j < part.column.taps; ++j, to += tap_bytes) {
          const int64_t w = part.column.last_tap - j * part.column.tap_step;
          const char *tap =
              from + header +
              static_cast<size_t>(h * filter_[2] + w) * from_tap_bytes;
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

void PhaseGemm::FillPlan(const Shape &input,
                         const Shape &output,
                         int threads,
                         Plan *plan) const {
  plan->output = output;
  plan->tile_bytes = Align(static_cast<size_t>(output[3]) * sizeof(float));
  for (const Part &part : parts_) {
    conv::Shape s;
    s.batch = Index(input[0]);
    s.in_h = Index(input[1]);
    s.in_w = Index(input[2]);
    s.in_c = Index(input[3]);
    s.kernel_h = Index(part.row.taps);
    s.kernel_w = Index(part.column.taps);
    s.dilation_h = Index(part.row.dilation);
    s.dilation_w = Index(part.column.dilation);
    s.pad_top = Index(part.row.pad);
    s.pad_left = Index(part.column.pad);
    s.out_h = Index(PhaseOutputs(part.row, axes_[0], output[1]));
    s.out_w = Index(PhaseOutputs(part.column, axes_[1], output[2]));
    s.out_c = Index(output[3]);
    s.groups = Index(groups_);
    if (s.out_h == 0 || s.out_w == 0) continue;
    Plan::Phase phase;
    conv::DirectRequest request;
    request.shape = s;
    request.w_type = type_;
    request.arithmetic = kernels_;
    request.threads = threads;
    phase.direct = conv::PlanDirect(request);
    phase.part = &part;
    phase.first_task = plan->tasks;
    plan->tasks += phase.direct.tasks;
    const auto tile =
        static_cast<size_t>(phase.direct.row_block * phase.direct.panel_block) *
        gemm::kPanelColumns * sizeof(float);
    plan->tile_bytes = std::max(plan->tile_bytes, tile);
    plan->scratch_bytes =
        std::max(plan->scratch_bytes, Align(phase.direct.scratch_bytes));
    plan->phases.push_back(phase);
  }
}

size_t PhaseGemm::ScratchBytes(const Plan &plan, int threads) {
  return (plan.tile_bytes + plan.scratch_bytes) * static_cast<size_t>(threads);
}

void PhaseGemm::RunTask(const Plan &plan,
                        const Plan::Phase &phase,
                        const conv::Args &args,
                        const FusedActivation &activation,
                        ptrdiff_t task,
                        void *scratch) const {
  const conv::DirectPlan &direct = phase.direct;
  const conv::Region region = conv::RegionOf(direct, task);
  const ptrdiff_t columns = region.column_end - region.column_begin;
  auto *tile = static_cast<float *>(scratch);
  conv::Args own = args;
  own.weights = laid_out_ + phase.part->offset;
  own.output_stride = static_cast<size_t>(columns);
  // A task writes its region alone: the image of the phase would begin here if
  // the region lay in the tile.
  const auto before =
      static_cast<uintptr_t>(region.row_begin * columns + region.column_begin);
  own.output = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(tile) -
                                        before * sizeof(float));
  conv::RunDirectTask(direct, own, task,
                      static_cast<char *>(scratch) + plan.tile_bytes);
  activation.Apply(tile, region.row_end - region.row_begin, columns, columns);

  const ptrdiff_t out_h = Index(plan.output[1]);
  const ptrdiff_t out_w = Index(plan.output[2]);
  const ptrdiff_t step =
      Index(axes_[1].stride) * static_cast<ptrdiff_t>(args.output_stride);
  const auto bytes = static_cast<size_t>(columns) * sizeof(float);
  const conv::Shape &s = direct.shape;
  for (ptrdiff_t row = region.row_begin; row < region.row_end;) {
    const ptrdiff_t w = row % s.out_w;
    const ptrdiff_t h = row / s.out_w % s.out_h;
    const ptrdiff_t n = row / s.out_w / s.out_h;
    const ptrdiff_t end = std::min(region.row_end, row + s.out_w - w);
    const ptrdiff_t pixel = (n * out_h + h * Index(axes_[0].stride) +
                             Index(phase.part->row.first)) *
                                out_w +
                            w * Index(axes_[1].stride) +
                            Index(phase.part->column.first);
    float *to = static_cast<float *>(args.output) +
                pixel * static_cast<ptrdiff_t>(args.output_stride) +
                region.column_begin;
    for (; row < end; ++row, to += step, tile += columns) {
      std::memcpy(to, tile, bytes);
    }
  }
}

// `pixel` is memory for one.
void PhaseGemm::FillUnmet(const Plan &plan,
                          const conv::Args &args,
                          const FusedActivation &activation,
                          ThreadPool *pool,
                          float *pixel) const {
  const ptrdiff_t channels = Index(plan.output[3]);
  FillWithBias(activation, args.epilogue.bias, 1, channels, channels, pixel);
  activation.Apply(pixel, 1, channels, channels);
  const auto bytes = static_cast<size_t>(channels) * sizeof(float);
  pool->ParallelFor(
      plan.output[0] * plan.output[1],
      RowGrain(plan.output[2] * plan.output[3]),
      [&](int64_t begin, int64_t end, int) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t h = row % plan.output[1] % axes_[0].stride;
          const bool met = phases_[0][static_cast<size_t>(h)].taps > 0;
          for (int64_t w = 0; w < plan.output[2]; ++w) {
            const auto phase = static_cast<size_t>(w % axes_[1].stride);
            if (met && phases_[1][phase].taps > 0) continue;
            std::memcpy(static_cast<float *>(args.output) +
                            Index(row * plan.output[2] + w) *
                                static_cast<ptrdiff_t>(args.output_stride),
                        pixel, bytes);
          }
        }
      });
}

void PhaseGemm::Run(const Plan &plan,
                    const conv::Args &args,
                    const FusedActivation &activation,
                    ThreadPool *pool,
                    void *scratch) const {
  if (has_unmet_) {
    FillUnmet(plan, args, activation, pool, static_cast<float *>(scratch));
  }
  const size_t per_thread = plan.tile_bytes + plan.scratch_bytes;
  pool->ParallelFor(plan.tasks, 1, [&](int64_t begin, int64_t end, int thread) {
    char *own =
        static_cast<char *>(scratch) + static_cast<size_t>(thread) * per_thread;
    auto after = std::upper_bound(
        plan.phases.begin(), plan.phases.end(), begin,
        [](int64_t task, const Plan::Phase &p) { return task < p.first_task; });
    for (int64_t i = begin; i < end; ++i) {
      while (after != plan.phases.end() && after->first_task <= i) ++after;
      const Plan::Phase &phase = *(after - 1);
      RunTask(plan, phase, args, activation, Index(i - phase.first_task), own);
    }
  });
}

}  // namespace mace
