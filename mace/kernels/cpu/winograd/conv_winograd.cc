// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/conv_winograd.h"

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/winograd/conv_task.h"

namespace mace::winograd {
namespace {

// For fp16 products. Shorter than in a direct product, because the output
// transform increases errors.
constexpr size_t kFp16Chain = 32;

// Pointers to the pixels that a tile needs; pixels outside the image point to
// `zeros`.
template <typename T>
void PointAtPixels(const conv::Shape &s,
                   const Place &place,
                   Index edge,
                   const T *input,
                   const T *zeros,
                   const void **pixels) {
  const Index w0 = place.w - s.pad_left;
  for (Index i = 0; i < edge; ++i, pixels += edge) {
    const Index h = place.h - s.pad_top + i * s.dilation_h;
    if (h < 0 || h >= s.in_h) {
      for (Index j = 0; j < edge; ++j) pixels[j] = zeros;
      continue;
    }
    const Index row = (place.n * s.in_h + h) * s.in_w;
    for (Index j = 0; j < edge; ++j) {
      const Index w = w0 + j * s.dilation_w;
      const bool inside = w >= 0 && w < s.in_w;
      pixels[j] = inside ? input + (row + w) * s.in_c : zeros;
    }
  }
}

// Memory that will be read soon: each call prefetches one of `calls` parts of
// it. It is prefetched into L1, although most of it is then evicted to L2: Zen
// 5 drops prefetches into L2 while many lines are in flight.
struct Fetch {
  const char *at = nullptr;
  Index bytes = 0;
  Index calls = 1;

  void Part() {
    constexpr Index kLine = 64;
    if (bytes == 0) return;
    const Index end = std::min(bytes, RoundUp(DivideUp(bytes, calls), kLine));
    for (Index i = 0; i < end; i += kLine) {
      __builtin_prefetch(at + i, /*rw=*/0, /*locality=*/3);
    }
    at += end;
    bytes -= end;
    --calls;
  }
};

// Bytes of a panel of the original filter.
size_t PanelBytes(const ConvPlan &p) {
  const auto depth = static_cast<size_t>(p.shape.in_c);
  const bool pairs = p.weight_type == gemm::WeightType::kBf16Pairs;
  return gemm::PanelBytes(p.weight_type,
                          9 * (pairs ? depth + depth % 2 : depth));
}

// The filter that a task with each_run transforms first. The data of other
// layers has evicted it from the cache, and a task with few tiles would wait
// for it longer than it computes.
Fetch FirstFilter(const ConvPlan &p, const Task &task, const void *weights) {
  constexpr Index kMostBytes = 256 * 1024;
  Fetch fetch;
  if (!p.each_run) return fetch;
  const size_t panel_bytes = PanelBytes(p);
  fetch.at = static_cast<const char *>(weights) +
             static_cast<size_t>(task.panel_begin) * panel_bytes;
  fetch.bytes =
      std::min(kMostBytes,
               static_cast<Index>(panel_bytes) *
                   std::min(p.group_panels, task.panel_end - task.panel_begin));
  fetch.calls = task.tile_end - task.tile_begin;
  return fetch;
}

template <typename Image, typename Point>
void TransformInputs(const ConvPlan &p,
                     const Task &task,
                     const Image *input,
                     const Image *zeros,
                     Fetch filter,
                     Point *to) {
  const void *pixels[kMaxPoints];
  const Index row_length = RowElements(p);
  InputArgs args;
  args.pixels = pixels;
  args.channels = static_cast<size_t>(p.shape.in_c);
  args.to_stride = static_cast<size_t>(Stride(p.tile_block, row_length));
  for (Index tile = task.tile_begin; tile < task.tile_end; ++tile) {
    PointAtPixels(p.shape, PlaceOf(p, tile), p.tile + 2, input, zeros, pixels);
    args.to = to;
    filter.Part();
    p.transforms->input[task.rows](args);
    to += row_length;
  }
}

// The product for some panels at all points: [tiles, in_c] x [in_c, columns].
template <typename T>
struct Group {
  Index panel = 0;
  Index panels = 0;
  Index columns = 0;
  const T *weights = nullptr;  // transformed, of the task's first point
  // The data that is read after the group, or null, and its size; each product
  // prefetches as much of it as its own weights.
  const char *next = nullptr;
  Index next_bytes = 0;
};

// Multiplies panels from `panel` on, as many as the arithmetic computes at a
// time.
template <typename T>
Group<T> GroupAt(const ConvPlan &p, const Task &task, Index panel) {
  Group<T> group;
  group.panel = panel;
  group.panels = std::min(p.group_panels, task.panel_end - panel);
  group.columns =
      std::min(p.shape.out_c - panel * kPanel, group.panels * kPanel);
  return group;
}

template <typename T>
void Multiply(const ConvPlan &p,
              const Task &task,
              const Group<T> &group,
              T *products,
              char *scratch) {
  const Scratch layout = LayOutScratch(p);
  const Index row_length = RowElements(p);
  const T *inputs = reinterpret_cast<T *>(scratch + layout.inputs);
  const void **rows = reinterpret_cast<const void **>(scratch + layout.rows);
  const Index count = task.tile_end - task.tile_begin;
  gemm::Block block;
  block.a = rows;
  block.w_type = p.arithmetic->element == gemm::Element::kF16
                     ? gemm::WeightType::kF16
                     : gemm::WeightType::kF32;
  block.c_type = p.arithmetic->element;
  block.scratch = reinterpret_cast<float *>(scratch + layout.sums);
  block.chain = kFp16Chain;
  block.rows = static_cast<size_t>(count);
  block.depth = static_cast<size_t>(p.shape.in_c);
  block.columns = static_cast<size_t>(group.columns);
  block.panel_end = static_cast<size_t>(group.panels);
  const Index begin = PointBegin(p, task);
  const Index end = PointEnd(p, task);
  T *c = products + begin * Stride(p.tile_block, GroupElements(p));
  block.c_stride = static_cast<size_t>(GroupElements(p));
  const T *w = group.weights;
  const Index bytes = group.panels * p.shape.in_c * kPanel *
                      static_cast<Index>(sizeof(T));  // of a point
  // The last products prefetch the data that follows the group.
  const Index fetches =
      group.next == nullptr
          ? 0
          : std::min(end - begin, DivideUp(group.next_bytes, bytes));
  for (Index point = begin; point < end; ++point) {
    for (Index i = 0; i < count; ++i) rows[i] = inputs + i * row_length;
    block.w = w;
    block.next_w = nullptr;
    if (point >= end - fetches) {
      block.next_w = group.next + (point - (end - fetches)) * bytes;
    } else if (point + 1 < end) {
      block.next_w = w + p.filter_stride;
    }
    block.c = c;
    p.arithmetic->run(block);
    inputs += Stride(p.tile_block, row_length);
    c += Stride(p.tile_block, GroupElements(p));
    w += p.filter_stride;
  }
}

template <typename Image, typename Point>
void TransformOutputs(const ConvPlan &p,
                      const Task &task,
                      const Group<Point> &group,
                      const conv::Args &args,
                      const Point *products) {
  const conv::Shape &s = p.shape;
  const Index column = group.panel * kPanel;
  const gemm::Epilogue &e = args.epilogue;
  Image *output = static_cast<Image *>(args.output);
  const Image *residual = static_cast<const Image *>(e.residual);
  OutputArgs out;
  out.from_stride = static_cast<size_t>(Stride(p.tile_block, GroupElements(p)));
  out.columns = static_cast<size_t>(group.columns);
  const auto row_pixels = static_cast<size_t>(s.out_w * s.dilation_h);
  const auto column_pixels = static_cast<size_t>(s.dilation_w);
  out.pixel_stride = column_pixels * args.output_stride;
  out.row_stride = row_pixels * args.output_stride;
  out.residual_pixel_stride = column_pixels * e.residual_stride;
  out.residual_row_stride = row_pixels * e.residual_stride;
  out.bias = e.bias == nullptr ? nullptr : e.bias + column;
  out.clamp = e.clamp;
  out.low = e.low;
  out.high = e.high;
  for (Index tile = task.tile_begin; tile < task.tile_end;
       ++tile, products += GroupElements(p)) {
    const Place place = PlaceOf(p, tile);
    const Index rows = Inside(p.tile, place.h, s.dilation_h, s.out_h);
    const Index columns = Inside(p.tile, place.w, s.dilation_w, s.out_w);
    if (rows == 0 || columns == 0) continue;
    const size_t pixel =
        static_cast<size_t>((place.n * s.out_h + place.h) * s.out_w + place.w);
    out.rows = static_cast<int>(rows);
    out.cols = static_cast<int>(columns);
    out.from = products;
    out.to = output + pixel * args.output_stride + column;
    if (residual != nullptr) {
      out.residual = residual + pixel * e.residual_stride + column;
    }
    p.transforms->output(out);
  }
}

// Returns the group's transformed weights, transforming them first if each run
// does so, and the data that follows.
template <typename T>
void FindWeights(const ConvPlan &p,
                 const Task &task,
                 const void *weights,
                 Group<T> *group,
                 T *scratch) {
  const size_t depth = static_cast<size_t>(p.shape.in_c);
  const Index end = group->panel + group->panels;
  const bool last = end == task.panel_end;
  if (!p.each_run) {
    const T *filter = static_cast<const T *>(weights);
    const size_t panel = depth * gemm::kPanelColumns;
    const Index next = last ? task.panel_begin : end;
    group->weights = filter + static_cast<size_t>(group->panel) * panel;
    group->next = reinterpret_cast<const char *>(
        filter + static_cast<size_t>(next) * panel);
    group->next_bytes = 1;
    return;
  }
  FilterArgs args;
  args.from = weights;
  args.type = p.weight_type;
  args.channels = depth;
  args.panel_begin = static_cast<size_t>(group->panel);
  args.panel_end = static_cast<size_t>(end);
  args.to = scratch;
  args.to_stride = p.filter_stride;
  p.transforms->filter[task.rows](args);
  group->weights = scratch;
  if (last) return;
  const size_t panel = PanelBytes(p);
  group->next =
      static_cast<const char *>(weights) + static_cast<size_t>(end) * panel;
  group->next_bytes = static_cast<Index>(panel) *
                      std::min(p.group_panels, task.panel_end - end);
}

// Computes the products of a block that two tasks share.
template <typename T, typename Byte>
T *ProductsOf(const ConvPlan &p, const Task &task, Byte *shared) {
  return reinterpret_cast<T *>(shared + static_cast<size_t>(task.block) *
                                            ProductBytes(p));
}

template <typename Image, typename Point>
void RunTask(const ConvPlan &plan,
             const conv::Args &args,
             Index task,
             char *scratch,
             char *shared) {
  const Task at = Locate(plan, task);
  const Scratch layout = LayOutScratch(plan);
  Point *products = plan.halves
                        ? ProductsOf<Point>(plan, at, shared)
                        : reinterpret_cast<Point *>(scratch + layout.products);
  Image *zeros = reinterpret_cast<Image *>(scratch + layout.zeros);
  std::memset(zeros, 0, static_cast<size_t>(plan.shape.in_c) * sizeof(Image));
  TransformInputs(plan, at, static_cast<const Image *>(args.input), zeros,
                  FirstFilter(plan, at, args.weights),
                  reinterpret_cast<Point *>(scratch + layout.inputs));
  for (Index panel = at.panel_begin; panel < at.panel_end;
       panel += plan.group_panels) {
    Group<Point> group = GroupAt<Point>(plan, at, panel);
    FindWeights(plan, at, args.weights, &group,
                reinterpret_cast<Point *>(scratch + layout.filter));
    Multiply(plan, at, group, products, scratch);
    if (plan.halves) return;  // there is one group
    TransformOutputs<Image, Point>(plan, at, group, args, products);
  }
}

// With halves.
template <typename Image, typename Point>
void TransformHalf(const ConvPlan &plan,
                   const conv::Args &args,
                   Index task,
                   const char *shared) {
  const Task at = LocateOutputs(plan, task);
  const Group<Point> group = GroupAt<Point>(plan, at, at.panel_begin);
  const Index skipped = at.tile_begin - Locate(plan, task).tile_begin;
  TransformOutputs<Image, Point>(plan, at, group, args,
                                 ProductsOf<const Point>(plan, at, shared) +
                                     skipped * GroupElements(plan));
}

}  // namespace

void RunConvTask(const ConvPlan &plan,
                 const conv::Args &args,
                 ptrdiff_t task,
                 void *scratch,
                 void *shared) {
  char *own = static_cast<char *>(scratch);
  char *common = static_cast<char *>(shared);
  if (plan.image == gemm::Element::kF16) {
    RunTask<uint16_t, uint16_t>(plan, args, task, own, common);
  } else if (plan.image == gemm::Element::kBf16) {
    RunTask<uint16_t, float>(plan, args, task, own, common);
  } else {
    RunTask<float, float>(plan, args, task, own, common);
  }
}

void RunOutputTask(const ConvPlan &plan,
                   const conv::Args &args,
                   ptrdiff_t task,
                   const void *shared) {
  const char *common = static_cast<const char *>(shared);
  if (plan.image == gemm::Element::kF16) {
    TransformHalf<uint16_t, uint16_t>(plan, args, task, common);
  } else if (plan.image == gemm::Element::kBf16) {
    TransformHalf<uint16_t, float>(plan, args, task, common);
  } else {
    TransformHalf<float, float>(plan, args, task, common);
  }
}

}  // namespace mace::winograd
