// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/conv_gemm.h"

#include <algorithm>
#include <cstring>

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

bool IsPadded(const ConvShape &s) {
  const Index reach_h =
      (s.out_h - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
  const Index reach_w =
      (s.out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1;
  return s.pad_top > 0 || s.pad_left > 0 || reach_h > s.in_h ||
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

// Parts of a task's scratch.
struct Scratch {
  size_t pointers;
  size_t zeros;
  size_t edges;
  size_t widened;
  size_t end;
};

Scratch LayOutScratch(const ConvPlan &p) {
  auto align = [](size_t bytes) { return (bytes + 63) & ~size_t{63}; };
  Scratch s;
  s.pointers = 0;
  s.zeros = align(static_cast<size_t>(p.taps * p.row_block) * sizeof(float *));
  s.edges = s.zeros + align(static_cast<size_t>(p.depth) * sizeof(float));
  s.widened = s.edges;
  if (p.tap_kind == ConvPlan::Taps::kRow) {
    s.widened += align(static_cast<size_t>(p.row_block * p.taps * p.depth) *
                       sizeof(float));
  }
  s.end = s.widened;
  if (p.w_type != WeightType::kF32) s.end += kScratchFloats * sizeof(float);
  return s;
}

// Rows per block by what must stay in cache.
Index RowBlock(const ConvPlan &p) {
  const ConvShape &s = p.shape;
  // Overlapping patches share pixels: a row brings stride x stride new ones.
  const Index fresh =
      std::min(s.kernel_h, s.stride_h) * std::min(s.kernel_w, s.stride_w);
  const Index row_bytes =
      fresh * (s.in_c / s.groups) * static_cast<Index>(sizeof(float));
  Index rows =
      std::clamp(kBlockBytes / row_bytes, kMinBlockRows, kMaxBlockRows);
  rows = std::min(rows, kMaxPointers / p.taps);
  if (p.tap_kind == ConvPlan::Taps::kRow) {
    const Index patch_bytes =
        p.taps * p.depth * static_cast<Index>(sizeof(float));
    rows = std::min(rows, kMaxEdgeBytes / patch_bytes);
  }
  return std::max(rows, static_cast<Index>(p.kernels->row_tile));
}

void SplitRows(ConvPlan *p, Index blocks) {
  const Index tile = static_cast<Index>(p->kernels->row_tile);
  p->row_block = std::min(p->rows, RoundUp(DivideUp(p->rows, blocks), tile));
  p->row_blocks = DivideUp(p->rows, p->row_block);
}

void SplitPanels(ConvPlan *p, Index blocks, Index grain) {
  p->panel_block =
      std::min(p->panels, RoundUp(DivideUp(p->panels, blocks), grain));
  p->panel_blocks = DivideUp(p->panels, p->panel_block);
}

// Cuts until there are a few tasks per thread: columns first (a block of rows
// is then read again, from cache), then rows.
void SplitForThreads(ConvPlan *p, int threads) {
  constexpr Index kTasksPerThread = 4;
  if (threads <= 1) return;
  const Index wanted = kTasksPerThread * threads;
  const Index have = p->shape.groups * p->row_blocks;
  if (have >= wanted) return;
  if (p->vector) {
    SplitPanels(p, wanted, 1);
    return;
  }
  SplitPanels(p, DivideUp(wanted, have), kMaxGroupPanels);
  const Index missing = DivideUp(wanted, p->shape.groups * p->panel_blocks);
  if (missing > p->row_blocks) {
    const Index tile = static_cast<Index>(p->kernels->row_tile);
    SplitRows(p, std::min(missing, DivideUp(p->rows, 2 * tile)));
  }
}

// Outputs of a task that lie in one row of one image.
struct Run {
  Index n;
  Index h;
  Index w_begin;
  Index w_end;
  Index at;  // of w_begin, counted from the task's first output
};

// Calls function(Run) for all of [row_begin, row_begin + rows).
template <typename Function>
void ForEachRun(const ConvShape &s,
                Index row_begin,
                Index rows,
                Function function) {
  Index n = row_begin / (s.out_h * s.out_w);
  Index h = row_begin / s.out_w % s.out_h;
  Index w = row_begin % s.out_w;
  for (Index at = 0; at < rows;) {
    const Index end = std::min(s.out_w, w + rows - at);
    function(Run{n, h, w, end, at});
    at += end - w;
    w = 0;
    if (++h == s.out_h) {
      h = 0;
      ++n;
    }
  }
}

// The output columns of a run for which column w * stride + offset lies in
// [0, size): the padded ones before and after need no test of their own.
struct Inside {
  Index begin;
  Index end;
};
Inside InsideColumns(const Run &run, Index stride, Index offset, Index size) {
  const Index first = offset >= 0 ? 0 : DivideUp(-offset, stride);
  const Index last = offset >= size ? 0 : (size - 1 - offset) / stride + 1;
  const Index begin = std::clamp(first, run.w_begin, run.w_end);
  return {begin, std::clamp(last, begin, run.w_end)};
}

struct RowsTask {
  const float *input;  // first channel of the group
  Index row_begin;
  Index rows;
  const float *zeros;
  float *edges;
  const float **pointers;
};

// A matrix has thousands of rows per few products: this loop is vectorised.
void FillSteps(const float **to, Index count, const float *from, Index step) {
  for (Index i = 0; i < count; ++i) to[i] = from + i * step;
}

void FillSame(const float **to, Index count, const float *value) {
  for (Index i = 0; i < count; ++i) to[i] = value;
}

void PointAtPixels(const ConvPlan &p, const RowsTask &task) {
  const ConvShape &s = p.shape;
  const Index step = s.stride_w * s.in_c;
  ForEachRun(s, task.row_begin, task.rows, [&](const Run &run) {
    const float **to = task.pointers + run.at;
    const Index count = run.w_end - run.w_begin;
    for (Index i = 0; i < s.kernel_h; ++i) {
      const Index h = run.h * s.stride_h - s.pad_top + i * s.dilation_h;
      const bool h_inside = h >= 0 && h < s.in_h;
      const Index row = (run.n * s.in_h + h) * s.in_w;
      for (Index j = 0; j < s.kernel_w; ++j, to += task.rows) {
        const Index offset = j * s.dilation_w - s.pad_left;
        const Inside in = h_inside
                              ? InsideColumns(run, s.stride_w, offset, s.in_w)
                              : Inside{run.w_end, run.w_end};
        FillSame(to, in.begin - run.w_begin, task.zeros);
        if (in.begin < in.end) {
          FillSteps(
              to + (in.begin - run.w_begin), in.end - in.begin,
              task.input + (row + in.begin * s.stride_w + offset) * s.in_c,
              step);
        }
        FillSame(to + (in.end - run.w_begin), count - (in.end - run.w_begin),
                 task.zeros);
      }
    }
  });
}

// A tap is kernel_w neighbouring pixels. Where these leave the image to the
// left or right, a copy with zeros is made.
void PointAtPixelRows(const ConvPlan &p, const RowsTask &task) {
  const ConvShape &s = p.shape;
  float *edge = task.edges;
  ForEachRun(s, task.row_begin, task.rows, [&](const Run &run) {
    // Columns for which the first and the last pixel of the tap are inside.
    const Inside first = InsideColumns(run, s.stride_w, -s.pad_left, s.in_w);
    const Inside last =
        InsideColumns(run, s.stride_w, s.kernel_w - 1 - s.pad_left, s.in_w);
    const Index begin = std::min(std::max(first.begin, last.begin), run.w_end);
    const Index end = std::max(begin, std::min(first.end, last.end));
    const float **to = task.pointers + run.at - run.w_begin;
    for (Index i = 0; i < s.kernel_h; ++i, to += task.rows) {
      const Index h = run.h * s.stride_h - s.pad_top + i * s.dilation_h;
      if (h < 0 || h >= s.in_h) {
        FillSame(to + run.w_begin, run.w_end - run.w_begin, task.zeros);
        continue;
      }
      const float *row = task.input + (run.n * s.in_h + h) * s.in_w * s.in_c;
      auto copy_edge = [&](Index w) {
        const Index w0 = w * s.stride_w - s.pad_left;
        const Index left = std::clamp<Index>(-w0, 0, s.kernel_w);
        const Index right = std::clamp<Index>(s.in_w - w0, left, s.kernel_w);
        to[w] = task.zeros;
        if (left == right) return;
        std::memset(edge, 0, static_cast<size_t>(p.depth) * sizeof(float));
        std::memcpy(
            edge + left * s.in_c, row + (w0 + left) * s.in_c,
            static_cast<size_t>((right - left) * s.in_c) * sizeof(float));
        to[w] = edge;
        edge += p.depth;
      };
      for (Index w = run.w_begin; w < begin; ++w) copy_edge(w);
      if (begin < end) {
        FillSteps(to + begin, end - begin,
                  row + (begin * s.stride_w - s.pad_left) * s.in_c,
                  s.stride_w * s.in_c);
      }
      for (Index w = end; w < run.w_end; ++w) copy_edge(w);
    }
  });
}

// out_w is 1 and nothing is padded.
void PointAtPatches(const ConvPlan &p, const RowsTask &task) {
  const ConvShape &s = p.shape;
  ForEachRun(s, task.row_begin, task.rows, [&](const Run &run) {
    task.pointers[run.at] =
        task.input + (run.n * s.in_h + run.h * s.stride_h) * s.in_w * s.in_c;
  });
}

struct TaskIndex {
  Index group;
  Index row_block;
  Index panel_block;
};

TaskIndex Locate(const ConvPlan &p, Index task) {
  return {task / (p.row_blocks * p.panel_blocks),
          task / p.panel_blocks % p.row_blocks, task % p.panel_blocks};
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
                  int threads) {
  ConvPlan p;
  p.shape = shape;
  p.kernels = kernels;
  p.w_type = w_type;
  p.tap_kind = TapKind(shape);
  const Index channels = shape.in_c / shape.groups;
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
  p.vector = p.rows == 1 && p.taps == 1 && !IsPadded(shape);
  const Index stretch = static_cast<Index>(kDepthBlock);
  p.single_pass = p.vector || (p.depth < stretch ? p.taps <= stretch / p.depth
                                                 : p.taps * p.depth == stretch);
  SplitRows(&p, DivideUp(p.rows, RowBlock(p)));
  SplitForThreads(&p, threads);
  p.tasks = shape.groups * p.row_blocks * p.panel_blocks;
  p.scratch_bytes = p.vector ? 0 : LayOutScratch(p).end;
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
  const TaskIndex at = Locate(plan, task);
  const ConvRegion region = RegionOf(plan, task);
  const ConvShape &s = plan.shape;
  const Index columns = s.out_c / s.groups;
  const size_t first = static_cast<size_t>(at.group * columns);
  const size_t row = static_cast<size_t>(region.row_begin);
  const size_t panel_begin =
      static_cast<size_t>(at.panel_block * plan.panel_block);
  const size_t panel_end =
      std::min(static_cast<size_t>(plan.panels),
               panel_begin + static_cast<size_t>(plan.panel_block));
  const size_t group_bytes =
      static_cast<size_t>(plan.panels * plan.taps * plan.depth) *
      kPanelColumns * WeightBytes(plan.w_type);
  const void *weights = static_cast<const char *>(args.weights) +
                        static_cast<size_t>(at.group) * group_bytes;
  Epilogue epilogue = args.epilogue;
  if (epilogue.bias != nullptr) epilogue.bias += first;
  if (epilogue.residual != nullptr) {
    epilogue.residual += row * epilogue.residual_stride + first;
  }
  const float *input = args.input + at.group * (s.in_c / s.groups);
  float *output = args.output + row * args.output_stride + first;

  if (plan.vector) {
    Vector v;
    v.x = input;
    v.depth = static_cast<size_t>(plan.depth);
    v.w = weights;
    v.w_type = plan.w_type;
    v.columns = static_cast<size_t>(columns);
    v.panel_begin = panel_begin;
    v.panel_end = panel_end;
    v.y = output;
    v.epilogue = epilogue;
    plan.kernels->run_vector(v);
    return;
  }

  const Scratch layout = LayOutScratch(plan);
  char *base = static_cast<char *>(scratch);
  RowsTask rows;
  rows.input = input;
  rows.row_begin = region.row_begin;
  rows.rows = region.row_end - region.row_begin;
  rows.pointers = reinterpret_cast<const float **>(base + layout.pointers);
  rows.zeros = reinterpret_cast<const float *>(base + layout.zeros);
  rows.edges = reinterpret_cast<float *>(base + layout.edges);
  std::memset(base + layout.zeros, 0,
              static_cast<size_t>(plan.depth) * sizeof(float));
  switch (plan.tap_kind) {
    case ConvPlan::Taps::kPixel:
      PointAtPixels(plan, rows);
      break;
    case ConvPlan::Taps::kRow:
      PointAtPixelRows(plan, rows);
      break;
    case ConvPlan::Taps::kPatch:
      PointAtPatches(plan, rows);
      break;
  }

  Block block;
  block.a = rows.pointers;
  block.rows = static_cast<size_t>(rows.rows);
  block.taps = static_cast<size_t>(plan.taps);
  block.depth = static_cast<size_t>(plan.depth);
  block.w = weights;
  block.w_type = plan.w_type;
  block.columns = static_cast<size_t>(columns);
  block.panel_begin = panel_begin;
  block.panel_end = panel_end;
  // The next block of rows usually comes to the same thread.
  if (region.row_end < plan.rows) block.next_w = weights;
  block.c = output;
  block.c_stride = args.output_stride;
  block.epilogue = epilogue;
  block.scratch = reinterpret_cast<float *>(base + layout.widened);
  plan.kernels->run(block);
}

}  // namespace mace::gemm
