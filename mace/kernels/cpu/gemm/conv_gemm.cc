// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/conv_gemm.h"

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/gemm/conv_rows.h"
#include "mace/kernels/cpu/gemm/split_tasks.h"

namespace mace::gemm {
namespace {

using Index = ptrdiff_t;

// Below this many channels the taps of a kernel row are joined. The inner loop
// then runs over kernel_w * channels products instead of channels.
constexpr Index kFewChannels = 16;

// The image rows of a block should stay in L2 while every panel passes over
// them: half of 512 KiB, the smallest L2 we aim at.
constexpr Index kBlockBytes = 256 * 1024;
constexpr Index kMinBlockRows = 64;  // amortises a pass over the weights
constexpr Index kMaxBlockRows = 512;
constexpr Index kMaxPointers = 8192;  // 64 KiB of row pointers
constexpr Index kMaxEdgeBytes = 128 * 1024;

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index RoundUp(Index a, Index b) { return DivideUp(a, b) * b; }

// Whether windows begin elsewhere than in the first pixel, or leave the image.
bool IsPadded(const ConvShape &s) {
  const Index reach_h =
      (s.out_h - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
  const Index reach_w =
      (s.out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1;
  return s.pad_top != 0 || s.pad_left != 0 || reach_h > s.in_h ||
         reach_w > s.in_w;
}

ConvPlan::Taps TapKind(const ConvShape &s) {
  const bool joined = s.groups == 1 && s.dilation_w == 1;
  if (joined && s.kernel_w == s.in_w && s.out_w == 1 && s.dilation_h == 1 &&
      !IsPadded(s)) {
    return ConvPlan::Taps::kPatch;
  }
  if (joined && s.kernel_w > 1 && s.in_c <= kFewChannels) {
    return ConvPlan::Taps::kRow;
  }
  return ConvPlan::Taps::kPixel;
}

// Of the numbers that the kernels read.
size_t ElementBytes(const ConvPlan &p) {
  return p.half != nullptr || p.fp16 != nullptr ? sizeof(uint16_t)
                                                : sizeof(float);
}

// Of those that row pointers lead to.
size_t RowElementBytes(const ConvPlan &p) {
  return p.packs && !p.half_image ? sizeof(float) : ElementBytes(p);
}

// Whether kernels can't read the image as it lies.
bool MustStage(const ConvPlan &p, bool padded) {
  if (p.shape.in_c != p.channels * p.shape.groups) return true;  // pairs
  if (p.half == nullptr) return false;
  return !p.half_image || (padded && p.half->pads_images);
}

// Whether tasks pack their rows: one tap of an image `s` of floats, of channels
// without a pair, or of pixels with others between them.
bool PacksRows(const ConvPlan &p, const ConvShape &s) {
  if (p.vector || p.half == nullptr || p.half->pack == nullptr || p.taps != 1 ||
      IsPadded(s)) {
    return false;
  }
  const bool paired = s.in_c == p.shape.in_c;
  if (p.tap_kind == ConvPlan::Taps::kPatch) return paired;
  const bool adjoining = s.stride_h == 1 && s.stride_w == 1;
  return p.tap_kind == ConvPlan::Taps::kPixel &&
         !(p.half_image && paired && adjoining);
}

// Parts of a task's scratch.
struct Scratch {
  size_t pointers;
  size_t zeros;
  size_t edges;
  size_t packed;
  size_t widened;  // weights; or sums, where these do not rest in the output
  size_t end;
};

// Whether every sum is finished when it first leaves the registers.
bool FitsOneStretch(const ConvPlan &p) {
  const Index stretch = static_cast<Index>(
      kHalfKernelsExist && p.half != nullptr ? p.half->depth_block
                                             : kDepthBlock);
  return p.depth < stretch ? p.taps <= stretch / p.depth
                           : p.taps * p.depth == stretch;
}

Scratch LayOutScratch(const ConvPlan &p) {
  auto align = [](size_t bytes) { return (bytes + 63) & ~size_t{63}; };
  Scratch s;
  s.pointers = 0;
  s.zeros = align(static_cast<size_t>(p.taps * p.row_block) * sizeof(void *));
  s.edges = s.zeros + align(static_cast<size_t>(p.depth) * RowElementBytes(p));
  s.packed = s.edges;
  if (p.tap_kind == ConvPlan::Taps::kRow) {
    s.packed += align(static_cast<size_t>(p.row_block * p.taps * p.depth) *
                      ElementBytes(p));
  }
  s.widened = s.packed;
  if (p.packs) {
    s.widened +=
        align(static_cast<size_t>(p.row_block * p.depth) * ElementBytes(p));
  }
  s.end = s.widened;
  if (p.fp16 != nullptr) {
    s.end += static_cast<size_t>(p.row_block) * kPanelColumns * sizeof(float);
  } else if (kHalfKernelsExist && p.half != nullptr && p.half_activations) {
    if (!FitsOneStretch(p)) {
      s.end +=
          static_cast<size_t>(p.row_block) * kHalfSumColumns * sizeof(float);
    }
  } else if (p.w_type != WeightType::kF32 && p.half == nullptr) {
    s.end += kScratchFloats * sizeof(float);
  }
  return s;
}

// The same for one row of 16 bits: it, the results and the residual as floats.
struct VectorScratch {
  size_t y;
  size_t residual;
  size_t end;
};

VectorScratch LayOutVector(const ConvPlan &p) {
  auto floats = [](Index count) {
    return static_cast<size_t>(RoundUp(count, 16)) * sizeof(float);
  };
  const size_t columns = floats(p.shape.out_c / p.shape.groups);
  VectorScratch s;
  s.y = floats(p.depth);
  s.residual = s.y + columns;
  s.end = s.residual + columns;
  return s;
}

// Rows per block by what must stay in cache.
Index RowBlock(const ConvPlan &p) {
  const ConvShape &s = p.shape;
  // Overlapping patches share pixels: a row brings stride x stride new ones.
  const Index fresh =
      std::min(s.kernel_h, s.stride_h) * std::min(s.kernel_w, s.stride_w);
  const Index row_bytes =
      fresh * (s.in_c / s.groups) * static_cast<Index>(ElementBytes(p));
  Index rows =
      std::clamp(kBlockBytes / row_bytes, kMinBlockRows, kMaxBlockRows);
  rows = std::min(rows, kMaxPointers / p.taps);
  if (p.tap_kind == ConvPlan::Taps::kRow) {
    const Index patch_bytes =
        p.taps * p.depth * static_cast<Index>(ElementBytes(p));
    rows = std::min(rows, kMaxEdgeBytes / patch_bytes);
  }
  return std::max(rows, static_cast<Index>(RowTile(p)));
}

void SplitRows(ConvPlan *p, Index blocks) {
  const Index tile = static_cast<Index>(RowTile(*p));
  p->row_block = std::min(p->rows, RoundUp(DivideUp(p->rows, blocks), tile));
  p->row_blocks = DivideUp(p->rows, p->row_block);
}

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

// Takes the image's border into the image.
void PadImage(ConvShape *s) {
  const Index reach_h =
      (s->out_h - 1) * s->stride_h + (s->kernel_h - 1) * s->dilation_h + 1;
  const Index reach_w =
      (s->out_w - 1) * s->stride_w + (s->kernel_w - 1) * s->dilation_w + 1;
  s->in_h = std::max(reach_h, s->pad_top + s->in_h);
  s->in_w = std::max(reach_w, s->pad_left + s->in_w);
  s->pad_top = 0;
  s->pad_left = 0;
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

ConvShape MatrixShape(ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t columns) {
  ConvShape s;
  s.in_w = rows;
  s.out_w = rows;
  s.in_c = depth;
  s.out_c = columns;
  return s;
}

ConvPlan PlanConv(const ConvShape &shape,
                  WeightType w_type,
                  const Kernels *kernels,
                  const HalfKernels *half,
                  int threads,
                  const Fp16Kernels *fp16,
                  Stored stored) {
  ConvPlan p;
  p.shape = shape;
  p.kernels = kernels;
  p.fp16 = fp16;
  p.half_image = fp16 != nullptr || stored == Stored::kBf16;
  p.half_activations = fp16 != nullptr || stored != Stored::kFloat;
  p.w_type = w_type;
  p.tap_kind = TapKind(shape);
  p.channels = shape.in_c / shape.groups;
  p.image_h = shape.in_h;
  p.image_w = shape.in_w;
  const bool pairs = w_type == WeightType::kBf16Pairs;
  const Index channels = pairs ? RoundUp(p.channels, 2) : p.channels;
  p.shape.in_c = channels * shape.groups;
  switch (p.tap_kind) {
    case ConvPlan::Taps::kPixel:
      p.taps = shape.kernel_h * shape.kernel_w;
      p.depth = channels;
      break;
    case ConvPlan::Taps::kRow:
      p.taps = shape.kernel_h;
      p.depth = shape.kernel_w * channels;
      break;
    case ConvPlan::Taps::kPatch:
      p.taps = 1;
      p.depth = shape.kernel_h * shape.kernel_w * channels;
      break;
  }
  p.rows = shape.batch * shape.out_h * shape.out_w;
  p.panels = static_cast<Index>(
      PanelCount(static_cast<size_t>(shape.out_c / shape.groups)));
  p.panel_block = p.panels;
  p.vector = fp16 == nullptr && p.rows == 1 && p.taps == 1 && !IsPadded(shape);
  // One row is bound by the weights, which both kinds of kernels read as fast.
  if (kHalfKernelsExist && (!p.vector || p.half_activations)) p.half = half;
  p.packs = PacksRows(p, shape);
  if (p.packs) {
    p.shape.in_c = shape.in_c;
  } else if (!(p.vector && shape.in_c == p.shape.in_c) &&
             MustStage(p, IsPadded(shape))) {
    if (p.half != nullptr && p.half->pads_images) {
      p.border_top = shape.pad_top;
      p.border_left = shape.pad_left;
      PadImage(&p.shape);
    }
    p.staged_pixels = p.shape.batch * p.shape.in_h * p.shape.in_w;
    p.staged_bytes =
        static_cast<size_t>(p.staged_pixels * p.shape.in_c) * ElementBytes(p);
  }
  p.single_pass = p.vector || p.half_activations || FitsOneStretch(p);
  SplitRows(&p, DivideUp(p.rows, RowBlock(p)));
  SplitForThreads(&p, threads);
  p.tasks = shape.groups * p.row_blocks * p.panel_blocks;
  if (!p.vector) {
    p.scratch_bytes = LayOutScratch(p).end;
  } else if (kHalfKernelsExist && p.half_activations) {
    p.scratch_bytes = LayOutVector(p).end;
  }
  return p;
}

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
