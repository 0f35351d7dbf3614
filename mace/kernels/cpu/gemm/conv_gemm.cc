// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tasks of convolutions: blocks of rows and panels, by the kernels of the plan.

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/gemm/conv_gemm.h"
#include "mace/kernels/cpu/gemm/conv_rows.h"
#include "mace/kernels/cpu/gemm/conv_scratch.h"

namespace mace::gemm {
namespace {

using Index = ptrdiff_t;

struct TaskIndex {
  Index group;
  Index row_block;
  Index panel_block;
};

// Rows change last: a thread whose tasks follow each other has some rows, all
// their channels, as in operators that split pixels; what it reads is then in
// the cache of the core that wrote it.
TaskIndex Locate(const ConvPlan &p, Index task) {
  const Index columns = p.shape.groups * p.panel_blocks;
  return {task % columns / p.panel_blocks, task / columns,
          task % p.panel_blocks};
}

// What a task multiplies with and where the results go: a group's weights, the
// task's panels, first row and column.
template <typename T>
struct Target {
  const void *weights;
  const void *next_weights;  // of the task that usually follows, or null
  size_t columns;
  size_t panel_begin;
  size_t panel_end;
  T *output;
  size_t stride;
  Epilogue epilogue;
  size_t residual_offset;  // of the task's first output in the residual
};

// The rows of a task, in its scratch.
template <typename T>
const T **MakeRows(const ConvPlan &plan,
                   const T *input,
                   const ConvRegion &region,
                   char *scratch) {
  const Scratch layout = LayOutScratch(plan);
  RowsTask<T> rows;
  rows.input = input;
  rows.row_begin = region.row_begin;
  rows.rows = region.row_end - region.row_begin;
  rows.pointers = reinterpret_cast<const T **>(scratch + layout.pointers);
  rows.zeros = reinterpret_cast<const T *>(scratch + layout.zeros);
  rows.edges = reinterpret_cast<T *>(scratch + layout.edges);
  std::memset(scratch + layout.zeros, 0,
              static_cast<size_t>(plan.depth) * sizeof(T));
  PointAtRows(plan, rows);
  return rows.pointers;
}

// What the blocks of all arithmetics have in common.
template <typename AnyBlock, typename Result>
AnyBlock MakeBlock(const ConvPlan &plan,
                   const ConvRegion &region,
                   const Target<Result> &target) {
  AnyBlock block;
  block.rows = static_cast<size_t>(region.row_end - region.row_begin);
  block.taps = static_cast<size_t>(plan.taps);
  block.depth = static_cast<size_t>(plan.depth);
  block.columns = target.columns;
  block.panel_begin = target.panel_begin;
  block.panel_end = target.panel_end;
  block.c_stride = target.stride;
  block.epilogue = target.epilogue;
  return block;
}

// What the tasks of all arithmetics have in common.
template <typename T>
Target<T> MakeTarget(const ConvPlan &plan,
                     const ConvArgs &args,
                     Index task,
                     T *output) {
  const TaskIndex at = Locate(plan, task);
  const Index columns = plan.shape.out_c / plan.shape.groups;
  const size_t first = static_cast<size_t>(at.group * columns);
  const size_t row = static_cast<size_t>(at.row_block * plan.row_block);
  const size_t panel_bytes =
      PanelBytes(plan.w_type, static_cast<size_t>(plan.taps * plan.depth));
  const size_t group_bytes = static_cast<size_t>(plan.panels) * panel_bytes;
  Target<T> target;
  target.columns = static_cast<size_t>(columns);
  target.panel_begin = static_cast<size_t>(at.panel_block * plan.panel_block);
  target.panel_end =
      std::min(static_cast<size_t>(plan.panels),
               target.panel_begin + static_cast<size_t>(plan.panel_block));
  target.weights = static_cast<const char *>(args.weights) +
                   static_cast<size_t>(at.group) * group_bytes;
  target.next_weights = nullptr;
  if (task + 1 < plan.tasks) {
    const TaskIndex next = Locate(plan, task + 1);
    target.next_weights =
        static_cast<const char *>(args.weights) +
        static_cast<size_t>(next.group) * group_bytes +
        static_cast<size_t>(next.panel_block * plan.panel_block) * panel_bytes;
  }
  target.epilogue = args.epilogue;
  if (target.epilogue.bias != nullptr) target.epilogue.bias += first;
  target.residual_offset = row * target.epilogue.residual_stride + first;
  if (target.epilogue.residual != nullptr) {
    target.epilogue.residual += target.residual_offset;
  }
  target.output = output + row * args.output_stride + first;
  target.stride = args.output_stride;
  return target;
}

// The rows of a block: packed, or where they lie in the image.
template <typename T>
void SetRows(const ConvPlan &plan,
             const T *image,
             const ConvRegion &region,
             char *scratch,
             HalfBlock *block) {
  const T *const *rows = MakeRows(plan, image, region, scratch);
  if constexpr (sizeof(T) == sizeof(uint16_t)) {
    if (!plan.packs) {
      block->a = rows;
      return;
    }
  }
  auto *packed =
      reinterpret_cast<uint16_t *>(scratch + LayOutScratch(plan).packed);
  const bool patch = plan.tap_kind == ConvPlan::Taps::kPatch;
  const auto count = static_cast<size_t>(patch ? plan.depth : plan.channels);
  if constexpr (sizeof(T) == sizeof(uint16_t)) {
    plan.half->pack_half(rows, block->rows, count, packed);
  } else {
    plan.half->pack(rows, block->rows, count, packed);
  }
  block->packed = packed;
}

// The image is args.staged, or as it came.
void RunHalf(const ConvPlan &plan,
             const ConvArgs &args,
             ptrdiff_t task,
             const ConvRegion &region,
             char *scratch) {
  const Index channel =
      Locate(plan, task).group * (plan.shape.in_c / plan.shape.groups);
  HalfBlock block;
  if (plan.half_activations) {
    const auto target = MakeTarget(plan, args, task, args.output_half);
    block = MakeBlock<HalfBlock>(plan, region, target);
    block.c_half = target.output;
    block.w = static_cast<const uint16_t *>(target.weights);
    if (args.residual_half != nullptr) {
      block.residual_half = args.residual_half + target.residual_offset;
    }
    block.sums =
        reinterpret_cast<float *>(scratch + LayOutScratch(plan).widened);
  } else {
    const auto target = MakeTarget(plan, args, task, args.output);
    block = MakeBlock<HalfBlock>(plan, region, target);
    block.c = target.output;
    block.w = static_cast<const uint16_t *>(target.weights);
  }
  if (plan.staged_pixels > 0) {
    SetRows(plan, static_cast<const uint16_t *>(args.staged) + channel, region,
            scratch, &block);
  } else if (plan.half_image) {
    SetRows(plan, args.input_half + channel, region, scratch, &block);
  } else {
    SetRows(plan, args.input + channel, region, scratch, &block);
  }
  plan.half->run(block);
}

void RunFp16(const ConvPlan &plan,
             const ConvArgs &args,
             const ConvRegion &region,
             const Target<uint16_t> &target,
             char *scratch) {
  const Index channels = plan.shape.in_c / plan.shape.groups;
  const Index group =
      region.column_begin / (plan.shape.out_c / plan.shape.groups);
  auto block = MakeBlock<Fp16Block>(plan, region, target);
  block.c = target.output;
  block.a = MakeRows(plan, args.input_half + group * channels, region, scratch);
  block.w = static_cast<const uint16_t *>(target.weights);
  block.sums = reinterpret_cast<float *>(scratch + LayOutScratch(plan).widened);
  block.residual_stride = target.epilogue.residual_stride;
  if (args.residual_half != nullptr) {
    block.residual = args.residual_half + target.residual_offset;
  }
  plan.fp16->run(block);
}

void RunFloat(const ConvPlan &plan,
              const float *input,
              const ConvRegion &region,
              const Target<float> &target,
              char *scratch) {
  auto block = MakeBlock<Block>(plan, region, target);
  block.c = target.output;
  block.a = MakeRows(plan, input, region, scratch);
  block.w = target.weights;
  block.w_type = plan.w_type;
  block.widen = plan.kernels->widen;
  block.next_w = target.next_weights;
  block.scratch =
      reinterpret_cast<float *>(scratch + LayOutScratch(plan).widened);
  plan.kernels->run(block);
}

template <typename T>
Vector MakeVector(const ConvPlan &plan, const Target<T> &target) {
  Vector v;
  v.depth = static_cast<size_t>(plan.depth);
  v.w = target.weights;
  v.w_type = plan.w_type;
  v.columns = target.columns;
  v.panel_begin = target.panel_begin;
  v.panel_end = target.panel_end;
  v.epilogue = target.epilogue;
  return v;
}

void RunVector(const ConvPlan &plan,
               const float *input,
               const Target<float> &target) {
  Vector v = MakeVector(plan, target);
  v.x = input;
  v.y = target.output;
  plan.kernels->run_vector(v);
}

// By way of floats: they are few beside the weights.
void RunHalfVector(const ConvPlan &plan,
                   const ConvArgs &args,
                   Index channel,
                   const Target<uint16_t> &target,
                   char *scratch) {
  const VectorScratch layout = LayOutVector(plan);
  auto *x = reinterpret_cast<float *>(scratch);
  auto *y = reinterpret_cast<float *>(scratch + layout.y);
  auto *residual = reinterpret_cast<float *>(scratch + layout.residual);
  const size_t begin = target.panel_begin * kPanelColumns;
  const size_t end = std::min(target.columns, target.panel_end * kPanelColumns);
  Vector v = MakeVector(plan, target);
  if (plan.staged_pixels > 0 || plan.half_image) {
    const void *image = plan.staged_pixels > 0 ? args.staged : args.input_half;
    plan.half->widen(static_cast<const uint16_t *>(image) + channel, x,
                     v.depth);
    v.x = x;
  } else {
    v.x = args.input + channel;
  }
  v.y = y;
  if (args.residual_half != nullptr) {
    plan.half->widen(args.residual_half + target.residual_offset + begin,
                     residual + begin, end - begin);
    v.epilogue.residual = residual;
  }
  plan.kernels->run_vector(v);
  plan.half->narrow(y + begin, target.output + begin, end - begin);
}

}  // namespace

ConvRegion RegionOf(const ConvPlan &plan, ptrdiff_t task) {
  const TaskIndex at = Locate(plan, task);
  const Index columns = plan.shape.out_c / plan.shape.groups;
  const Index width = static_cast<Index>(kPanelColumns) * plan.panel_block;
  ConvRegion r;
  r.row_begin = at.row_block * plan.row_block;
  r.row_end = std::min(plan.rows, r.row_begin + plan.row_block);
  r.column_begin = at.group * columns + at.panel_block * width;
  r.column_end =
      at.group * columns + std::min(columns, (at.panel_block + 1) * width);
  return r;
}

void RunConvTask(const ConvPlan &plan,
                 const ConvArgs &args,
                 ptrdiff_t task,
                 void *scratch) {
  const ConvRegion region = RegionOf(plan, task);
  char *own = static_cast<char *>(scratch);
  if (plan.fp16 != nullptr) {
    RunFp16(plan, args, region, MakeTarget(plan, args, task, args.output_half),
            own);
    return;
  }
  const Index channel =
      Locate(plan, task).group * (plan.shape.in_c / plan.shape.groups);
  const bool staged = plan.staged_pixels > 0;
  if (kHalfKernelsExist && plan.vector && plan.half_activations) {
    RunHalfVector(plan, args, channel,
                  MakeTarget(plan, args, task, args.output_half), own);
    return;
  }
  if (kHalfKernelsExist && plan.half != nullptr) {
    RunHalf(plan, args, task, region, own);
    return;
  }
  const Target<float> target = MakeTarget(plan, args, task, args.output);
  const float *image =
      (staged ? static_cast<const float *>(args.staged) : args.input) + channel;
  if (plan.vector) {
    RunVector(plan, image, target);
  } else {
    RunFloat(plan, image, region, target, own);
  }
}

}  // namespace mace::gemm
