// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tasks of direct convolutions: blocks of rows and panels.

#include <algorithm>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/conv/direct_scratch.h"
#include "mace/kernels/cpu/conv/image_rows.h"
#include "mace/kernels/cpu/conv/tap_runs.h"
#include "mace/kernels/cpu/gemm/dynamic_gemm.h"
#include "mace/kernels/cpu/gemm/int16_gemm.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"

namespace mace::conv {
namespace {

using Index = ptrdiff_t;

struct TaskIndex {
  Index group;
  Index row_block;
  Index panel_block;
};

// The row index changes slowest: a thread with consecutive tasks computes all
// channels of some rows, like operators that divide pixels among threads. Then
// the data that it reads is often in the cache of the core that wrote it.
TaskIndex Locate(const DirectPlan &p, Index task) {
  const Index columns = p.shape.groups * p.panel_blocks;
  return {task % columns / p.panel_blocks, task / columns,
          task % p.panel_blocks};
}

// Returns the address `count` elements after `at`.
const char *Advance(const void *at, Element element, size_t count) {
  return static_cast<const char *>(at) + count * ElementBytes(element);
}
char *Advance(void *at, Element element, size_t count) {
  return static_cast<char *>(at) + count * ElementBytes(element);
}

// The weights and the destination of a task: a group's weights, the task's
// panels, first row and first column.
struct Target {
  const void *weights;
  const void *next_weights;  // of the task that usually follows, or null
  size_t columns;
  size_t panel_begin;
  size_t panel_end;
  char *output;
  gemm::Epilogue epilogue;
  gemm::Requantization requantization;      // if the epilogue has one
  gemm::Dequantization dequantization;      // likewise
  gemm::Requantization16 requantization16;  // likewise
};

Target TargetOf(const DirectPlan &plan, const Args &args, Index task) {
  const TaskIndex at = Locate(plan, task);
  const Index columns = plan.shape.out_c / plan.shape.groups;
  const size_t first = static_cast<size_t>(at.group * columns);
  const size_t row = static_cast<size_t>(at.row_block * plan.row_block);
  const size_t panel_bytes = gemm::PanelBytes(
      plan.w_type,
      static_cast<size_t>(plan.taps) *
          gemm::StoredDepth(plan.w_type, static_cast<size_t>(plan.depth)));
  const size_t group_bytes = static_cast<size_t>(plan.panels) * panel_bytes;
  const char *weights = static_cast<const char *>(args.weights);
  Target target;
  target.columns = static_cast<size_t>(columns);
  target.panel_begin = static_cast<size_t>(at.panel_block * plan.panel_block);
  target.panel_end =
      std::min(static_cast<size_t>(plan.panels),
               target.panel_begin + static_cast<size_t>(plan.panel_block));
  target.weights = weights + static_cast<size_t>(at.group) * group_bytes;
  target.next_weights = nullptr;
  if (task + 1 < plan.tasks) {
    const TaskIndex next = Locate(plan, task + 1);
    target.next_weights =
        weights + static_cast<size_t>(next.group) * group_bytes +
        static_cast<size_t>(next.panel_block * plan.panel_block) * panel_bytes;
  }
  target.epilogue = args.epilogue;
  if (target.epilogue.bias != nullptr) target.epilogue.bias += first;
  if (target.epilogue.requantization != nullptr) {
    target.requantization = *target.epilogue.requantization;
    target.requantization.bias += first;
    target.requantization.scale += first;
  }
  // Only of matrices, which are one group.
  if (target.epilogue.dequantization != nullptr) {
    target.dequantization = *target.epilogue.dequantization;
    target.dequantization.row_scales += row;
    target.dequantization.row_zeros += row;
    if (target.dequantization.row_sums != nullptr) {
      target.dequantization.row_sums += row;
    }
  }
  if (target.epilogue.requantization16 != nullptr) {
    target.requantization16 = *target.epilogue.requantization16;
    target.requantization16.bias += first;
    target.requantization16.scale += first;
  }
  if (target.epilogue.residual != nullptr) {
    target.epilogue.residual =
        Advance(target.epilogue.residual, plan.results,
                row * target.epilogue.residual_stride + first);
  }
  target.output =
      Advance(args.output, plan.results, row * args.output_stride + first);
  return target;
}

// The image that kernels read, or whose rows are packed, at the first channel
// of a group.
const void *ImageOf(const DirectPlan &plan, const Args &args, Index group) {
  const Index channel = group * (plan.shape.in_c / plan.shape.groups);
  const bool staged = plan.staged_pixels > 0;
  return Advance(staged ? args.staged : args.input,
                 staged ? plan.element : plan.image,
                 static_cast<size_t>(channel));
}

// Writes the row pointers of a task to its scratch memory.
const void **MakeRows(const DirectPlan &plan,
                      const void *image,
                      uint16_t padding,
                      const Region &region,
                      const Scratch &layout,
                      char *scratch) {
  RowsTask rows;
  rows.input = image;
  rows.element_bytes = ElementBytes(RowElement(plan));
  rows.row_begin = region.row_begin;
  rows.rows = region.row_end - region.row_begin;
  rows.pointers = reinterpret_cast<const void **>(scratch + layout.pointers);
  rows.zeros = scratch + layout.zeros;
  rows.edges = scratch + layout.edges;
  rows.padding = padding;
  FillPadding(scratch + layout.zeros,
              static_cast<size_t>(plan.depth) * rows.element_bytes, padding);
  PointAtRows(plan, rows);
  return rows.pointers;
}

void RunBlock(const DirectPlan &plan,
              const void *image,
              uint16_t padding,
              const Region &region,
              const Target &target,
              size_t output_stride,
              char *scratch) {
  const Scratch layout = LayOutScratch(plan);
  const Arithmetic &arithmetic = *plan.arithmetic;
  gemm::Block block;
  block.rows = static_cast<size_t>(region.row_end - region.row_begin);
  block.taps = static_cast<size_t>(plan.taps);
  block.depth = static_cast<size_t>(plan.depth);
  block.w = target.weights;
  block.w_type = plan.w_type;
  block.widen = arithmetic.widen;
  block.columns = target.columns;
  block.panel_begin = target.panel_begin;
  block.panel_end = target.panel_end;
  block.next_w = target.next_weights;
  block.c = target.output;
  block.c_type = plan.results;
  block.c_stride = output_stride;
  block.epilogue = target.epilogue;
  if (target.epilogue.requantization != nullptr) {
    block.epilogue.requantization = &target.requantization;
  }
  if (target.epilogue.dequantization != nullptr) {
    block.epilogue.dequantization = &target.dequantization;
  }
  if (target.epilogue.requantization16 != nullptr) {
    block.epilogue.requantization16 = &target.requantization16;
  }
  block.scratch = reinterpret_cast<float *>(scratch + layout.widened);
  block.tap_runs =
      FindTapRuns(plan, region.row_begin, region.row_end,
                  reinterpret_cast<gemm::TapRun *>(scratch + layout.runs));
  block.a = MakeRows(plan, image, padding, region, layout, scratch);
  if (gemm::kBf16Exists && plan.packs) {
    auto *packed = reinterpret_cast<uint16_t *>(scratch + layout.packed);
    const bool patch = plan.tap_kind == DirectPlan::Taps::kPatch;
    const auto count = static_cast<size_t>(patch ? plan.depth : plan.channels);
    (plan.image == Element::kF32 ? arithmetic.pack : arithmetic.pack_half)(
        block.a, block.rows, count, packed);
    block.packed = packed;
  }
  arithmetic.run(block);
}

// Activations of 16 bits are converted to floats: they are few compared with
// the weights.
void RunVector(const DirectPlan &plan,
               const void *image,
               const Target &target,
               char *scratch) {
  const VectorScratch layout = LayOutVector(plan);
  const Arithmetic &arithmetic = *plan.arithmetic;
  const size_t begin = target.panel_begin * gemm::kPanelColumns;
  const size_t end =
      std::min(target.columns, target.panel_end * gemm::kPanelColumns);
  gemm::Vector v;
  v.depth = static_cast<size_t>(plan.depth);
  v.w = target.weights;
  v.w_type = plan.w_type;
  v.columns = target.columns;
  v.panel_begin = target.panel_begin;
  v.panel_end = target.panel_end;
  v.epilogue = target.epilogue;
  const bool staged = plan.staged_pixels > 0;
  if (gemm::kBf16Exists &&
      (staged ? plan.element : plan.image) != Element::kF32) {
    auto *x = reinterpret_cast<float *>(scratch);
    arithmetic.widen_row(static_cast<const uint16_t *>(image), x, v.depth);
    v.x = x;
  } else {
    v.x = static_cast<const float *>(image);
  }
  if (!gemm::kBf16Exists || plan.results == Element::kF32) {
    v.y = reinterpret_cast<float *>(target.output);
    arithmetic.run_vector(v);
    return;
  }
  v.y = reinterpret_cast<float *>(scratch + layout.y);
  if (v.epilogue.residual != nullptr) {
    auto *residual = reinterpret_cast<float *>(scratch + layout.residual);
    arithmetic.widen_row(
        static_cast<const uint16_t *>(v.epilogue.residual) + begin,
        residual + begin, end - begin);
    v.epilogue.residual = residual;
  }
  arithmetic.run_vector(v);
  arithmetic.narrow(v.y + begin,
                    reinterpret_cast<uint16_t *>(target.output) + begin,
                    end - begin);
}

}  // namespace

Region RegionOf(const DirectPlan &plan, ptrdiff_t task) {
  const TaskIndex at = Locate(plan, task);
  const Index columns = plan.shape.out_c / plan.shape.groups;
  const Index width =
      static_cast<Index>(gemm::kPanelColumns) * plan.panel_block;
  Region r;
  r.row_begin = at.row_block * plan.row_block;
  r.row_end = std::min(plan.rows, r.row_begin + plan.row_block);
  r.column_begin = at.group * columns + at.panel_block * width;
  r.column_end =
      at.group * columns + std::min(columns, (at.panel_block + 1) * width);
  return r;
}

void RunDirectTask(const DirectPlan &plan,
                   const Args &args,
                   ptrdiff_t task,
                   void *scratch) {
  char *own = static_cast<char *>(scratch);
  const Target target = TargetOf(plan, args, task);
  const void *image = ImageOf(plan, args, Locate(plan, task).group);
  if (plan.vector) {
    RunVector(plan, image, target, own);
  } else {
    RunBlock(plan, image, args.padding, RegionOf(plan, task), target,
             args.output_stride, own);
  }
}

}  // namespace mace::conv
