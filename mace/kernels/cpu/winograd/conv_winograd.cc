// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/conv_winograd.h"

#include <algorithm>
#include <cstring>

namespace mace::winograd {
namespace {

using Index = ptrdiff_t;

constexpr Index kPanel = static_cast<Index>(gemm::kPanelColumns);

// Products are made and transformed back for this many panels at a time, the
// widest group of columns of the matrix kernels: what waits for the output
// transform does not grow with the number of filters.
constexpr Index kMaxGroup = static_cast<Index>(gemm::kMaxGroupPanels);

// Of fp16 products: the output transform makes their errors larger than those
// of a direct product.
constexpr size_t kFp16Chain = 32;

// Where each run transforms the filter, the group is as wide as this allows.
constexpr Index kGroupFilterBytes = 1280 * 1024;

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index RoundUp(Index a, Index b) { return DivideUp(a, b) * b; }

// Of an element of the image, and of what is transformed.
Index ElementBytes(const ConvPlan &p) {
  return p.fp16 != nullptr ? sizeof(uint16_t) : sizeof(float);
}

Index Points(int tile) { return Index{tile + 2} * (tile + 2); }

// Elements from a point to the next of `rows` rows.
Index Stride(Index rows, Index row_length) {
  return static_cast<Index>(
      PointStride(static_cast<size_t>(rows * row_length / kPanel)));
}

Index RowElements(const ConvPlan &p) { return RoundUp(p.shape.in_c, kPanel); }

Index GroupElements(const ConvPlan &p) { return p.group_panels * kPanel; }

Index GroupPanels(const ConvPlan &p) {
  const Index most = std::min(p.panel_block, kMaxGroup);
  if (!p.each_run) return most;
  const Index panel_bytes =
      Points(p.tile) * p.shape.in_c * kPanel * ElementBytes(p);
  return std::clamp(kGroupFilterBytes / panel_bytes, Index{1}, most);
}

// Parts of a task's scratch, in bytes.
struct Scratch {
  size_t inputs;    // [t * t][tile_block][in_c]
  size_t products;  // [t * t][tile_block][columns of a group]
  size_t filter;    // [t * t][panels of a group][in_c][16], with each_run
  size_t zeros;     // [in_c]
  size_t rows;      // pointers to the inputs of one point
  size_t sums;      // [tile_block][16] floats, for fp16 alone
  size_t end;
};

Scratch LayOutScratch(const ConvPlan &p) {
  auto align = [](Index size) {
    return (static_cast<size_t>(size) + 63) & ~size_t{63};
  };
  const Index bytes = ElementBytes(p);
  const Index points = Points(p.tile);
  Scratch s;
  s.inputs = 0;
  s.products = align(points * Stride(p.tile_block, RowElements(p)) * bytes);
  s.filter = s.products +
             align(points * Stride(p.tile_block, GroupElements(p)) * bytes);
  s.zeros = s.filter;
  if (p.each_run) {
    s.zeros += align(points * static_cast<Index>(p.filter_stride) * bytes);
  }
  s.rows = s.zeros + align(RowElements(p) * bytes);
  s.sums = s.rows + align(p.tile_block * static_cast<Index>(sizeof(void *)));
  s.end = s.sums;
  if (p.fp16 != nullptr) {
    s.end += align(p.tile_block * kPanel * static_cast<Index>(sizeof(float)));
  }
  return s;
}

void SplitTiles(ConvPlan *p, Index blocks) {
  p->tile_block = DivideUp(p->tiles, blocks);
  p->tile_blocks = DivideUp(p->tiles, p->tile_block);
}

void SplitPanels(ConvPlan *p, Index parts) {
  p->panel_block = DivideUp(p->panels, parts);
  p->panel_blocks = DivideUp(p->panels, p->panel_block);
}

// Whether to split tiles, each part of which reads, or transforms, the whole
// filter, and not columns, each part of which transforms the same tiles again.
bool TilesAreCheaper(const ConvPlan &p, Index blocks) {
  constexpr Index kMinSplitTiles = 12;
  if (p.tiles / blocks < kMinSplitTiles) return false;
  // A vector of the filter takes as long to transform as two of the image.
  return !p.each_run || p.panels * kPanel < 2 * p.tiles;
}

// As many equal tasks for one thread as for another, once there are so few that
// it matters.
void SplitForThreads(ConvPlan *p, int threads) {
  constexpr Index kEnoughTasks = 16;  // per thread
  if (threads <= 1 || p->tile_blocks >= kEnoughTasks * threads) return;
  const Index blocks = RoundUp(p->tile_blocks, threads);
  if (TilesAreCheaper(*p, blocks)) {
    SplitTiles(p, blocks);
    return;
  }
  Index divisor = std::min(p->tile_blocks, Index{threads});
  while (threads % divisor != 0) --divisor;
  SplitTiles(p, divisor);
  SplitPanels(p, threads / divisor);
}

// A tile's place in the output.
struct Place {
  Index n;
  Index h;
  Index w;
};

Place PlaceOf(const ConvPlan &p, Index tile) {
  return {tile / (p.tiles_h * p.tiles_w), tile / p.tiles_w % p.tiles_h * p.tile,
          tile % p.tiles_w * p.tile};
}

struct Task {
  Index tile_begin;
  Index tile_end;
  Index panel_begin;
  Index panel_end;
};

Task Locate(const ConvPlan &p, Index task) {
  const Index tile = task / p.panel_blocks * p.tile_block;
  const Index panel = task % p.panel_blocks * p.panel_block;
  return {tile, std::min(p.tiles, tile + p.tile_block), panel,
          std::min(p.panels, panel + p.panel_block)};
}

// Pointers to the pixels that a tile needs; `zeros` for those outside.
template <typename T>
void PointAtPixels(const gemm::ConvShape &s,
                   const Place &place,
                   Index edge,
                   const T *input,
                   const T *zeros,
                   const void **pixels) {
  const Index w0 = place.w - s.pad_left;
  for (Index i = 0; i < edge; ++i, pixels += edge) {
    const Index h = place.h - s.pad_top + i;
    if (h < 0 || h >= s.in_h) {
      for (Index j = 0; j < edge; ++j) pixels[j] = zeros;
      continue;
    }
    const Index row = (place.n * s.in_h + h) * s.in_w;
    for (Index j = 0; j < edge; ++j) {
      const Index w = w0 + j;
      const bool inside = w >= 0 && w < s.in_w;
      pixels[j] = inside ? input + (row + w) * s.in_c : zeros;
    }
  }
}

// Memory that is read soon: each call fetches one of `calls` parts of it into
// the second level of cache.
struct Fetch {
  const char *at = nullptr;
  Index bytes = 0;
  Index calls = 1;

  void Part() {
    constexpr Index kLine = 64;
    if (bytes == 0) return;
    const Index end = std::min(bytes, RoundUp(DivideUp(bytes, calls), kLine));
    for (Index i = 0; i < end; i += kLine) {
      __builtin_prefetch(at + i, /*rw=*/0, /*locality=*/2);
    }
    at += end;
    bytes -= end;
    --calls;
  }
};

// The filter that a task of each_run transforms first. What other layers read
// has put it out of the cache, and a task of few tiles would wait for it longer
// than it computes.
Fetch FirstFilter(const ConvPlan &p, const Task &task, const void *weights) {
  constexpr Index kMostBytes = 256 * 1024;
  Fetch fetch;
  if (!p.each_run) return fetch;
  const size_t panel_bytes =
      gemm::PanelBytes(p.weight_type, 9 * static_cast<size_t>(p.shape.in_c));
  fetch.at = static_cast<const char *>(weights) +
             static_cast<size_t>(task.panel_begin) * panel_bytes;
  fetch.bytes =
      std::min(kMostBytes,
               static_cast<Index>(panel_bytes) *
                   std::min(p.group_panels, task.panel_end - task.panel_begin));
  fetch.calls = task.tile_end - task.tile_begin;
  return fetch;
}

template <typename T>
void TransformInputs(const ConvPlan &p,
                     const Task &task,
                     const T *input,
                     const T *zeros,
                     Fetch filter,
                     T *to) {
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
    p.transforms->input(args);
    to += row_length;
  }
}

// Some panels, all points: [tiles, in_c] x [in_c, columns].
template <typename T>
struct Group {
  Index panel;
  Index panels;
  Index columns;
  const T *weights;  // transformed, of point 0
  // What is read after the group, or null, and how much of it; a product
  // fetches as much as its own weights into cache.
  const char *next;
  Index next_bytes;
};

// The products of one point, by the kernels for its type.
void RunProducts(const ConvPlan &p,
                 const float *w,
                 const void *next_w,
                 float * /*sums*/,
                 gemm::Block *block) {
  block->w = w;
  block->next_w = next_w;
  p.gemm->run(*block);
}
void RunProducts(const ConvPlan &p,
                 const uint16_t *w,
                 const void * /*next_w*/,
                 float *sums,
                 gemm::Fp16Block *block) {
  block->w = w;
  block->sums = sums;
  block->chain = kFp16Chain;
  p.fp16->run(*block);
}
template <typename T>
struct BlockOf {
  using Type = gemm::Block;
};
template <>
struct BlockOf<uint16_t> {
  using Type = gemm::Fp16Block;
};

template <typename T>
void Multiply(const ConvPlan &p,
              const Task &task,
              const Group<T> &group,
              char *scratch) {
  const Scratch layout = LayOutScratch(p);
  const Index row_length = RowElements(p);
  const T *inputs = reinterpret_cast<T *>(scratch + layout.inputs);
  const T **rows = reinterpret_cast<const T **>(scratch + layout.rows);
  float *sums = reinterpret_cast<float *>(scratch + layout.sums);
  const Index count = task.tile_end - task.tile_begin;
  typename BlockOf<T>::Type block;
  block.a = rows;
  block.rows = static_cast<size_t>(count);
  block.depth = static_cast<size_t>(p.shape.in_c);
  block.columns = static_cast<size_t>(group.columns);
  block.panel_end = static_cast<size_t>(group.panels);
  block.c = reinterpret_cast<T *>(scratch + layout.products);
  block.c_stride = static_cast<size_t>(GroupElements(p));
  const T *w = group.weights;
  const Index points = Points(p.tile);
  const Index bytes = group.panels * p.shape.in_c * kPanel *
                      static_cast<Index>(sizeof(T));  // of a point
  // The last products fetch what follows the group.
  const Index fetches =
      group.next == nullptr
          ? 0
          : std::min(points, DivideUp(group.next_bytes, bytes));
  for (Index point = 0; point < points; ++point) {
    for (Index i = 0; i < count; ++i) rows[i] = inputs + i * row_length;
    const void *next_w = nullptr;
    if (point >= points - fetches) {
      next_w = group.next + (point - (points - fetches)) * bytes;
    } else if (point + 1 < points) {
      next_w = w + p.filter_stride;
    }
    RunProducts(p, w, next_w, sums, &block);
    inputs += Stride(p.tile_block, row_length);
    block.c += Stride(p.tile_block, GroupElements(p));
    w += p.filter_stride;
  }
}

// Where results and residual lie.
template <typename T>
struct Results {
  T *output;
  const T *residual;
};

template <typename T>
void TransformOutputs(const ConvPlan &p,
                      const Task &task,
                      const Group<T> &group,
                      const gemm::ConvArgs &args,
                      const Results<T> &results,
                      const T *products) {
  const gemm::ConvShape &s = p.shape;
  const Index column = group.panel * kPanel;
  const gemm::Epilogue &e = args.epilogue;
  OutputArgs out;
  out.from_stride = static_cast<size_t>(Stride(p.tile_block, GroupElements(p)));
  out.columns = static_cast<size_t>(group.columns);
  out.pixel_stride = args.output_stride;
  out.row_stride = static_cast<size_t>(s.out_w) * args.output_stride;
  out.residual_pixel_stride = e.residual_stride;
  out.residual_row_stride = static_cast<size_t>(s.out_w) * e.residual_stride;
  out.bias = e.bias == nullptr ? nullptr : e.bias + column;
  out.clamp = e.clamp;
  out.low = e.low;
  out.high = e.high;
  for (Index tile = task.tile_begin; tile < task.tile_end; ++tile) {
    const Place place = PlaceOf(p, tile);
    const size_t pixel =
        static_cast<size_t>((place.n * s.out_h + place.h) * s.out_w + place.w);
    out.rows = static_cast<int>(std::min<Index>(p.tile, s.out_h - place.h));
    out.cols = static_cast<int>(std::min<Index>(p.tile, s.out_w - place.w));
    out.from = products;
    out.to = results.output + pixel * args.output_stride + column;
    if (results.residual != nullptr) {
      out.residual = results.residual + pixel * e.residual_stride + column;
    }
    p.transforms->output(out);
    products += GroupElements(p);
  }
}

// Where the group's weights lie, transformed now if that is done in each run,
// and what comes next.
template <typename T>
void FindWeights(const ConvPlan &p,
                 const Task &task,
                 const void *weights,
                 Group<T> *group,
                 T *scratch) {
  const size_t depth = static_cast<size_t>(p.shape.in_c);
  const Index end = group->panel + group->panels;
  const bool last = end == task.panel_end;
  group->next = nullptr;
  group->next_bytes = 0;
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
  p.transforms->filter(args);
  group->weights = scratch;
  if (last) return;
  const size_t panel = gemm::PanelBytes(p.weight_type, 9 * depth);
  group->next =
      static_cast<const char *>(weights) + static_cast<size_t>(end) * panel;
  group->next_bytes = static_cast<Index>(panel) *
                      std::min(p.group_panels, task.panel_end - end);
}

template <typename T>
void RunTask(const ConvPlan &plan,
             const gemm::ConvArgs &args,
             const T *input,
             const Results<T> &results,
             Index task,
             char *scratch) {
  const Task at = Locate(plan, task);
  const Scratch layout = LayOutScratch(plan);
  T *zeros = reinterpret_cast<T *>(scratch + layout.zeros);
  std::memset(zeros, 0, static_cast<size_t>(plan.shape.in_c) * sizeof(T));
  TransformInputs(plan, at, input, zeros, FirstFilter(plan, at, args.weights),
                  reinterpret_cast<T *>(scratch + layout.inputs));
  for (Index panel = at.panel_begin; panel < at.panel_end;
       panel += plan.group_panels) {
    Group<T> group;
    group.panel = panel;
    group.panels = std::min(plan.group_panels, at.panel_end - panel);
    group.columns =
        std::min(plan.shape.out_c - panel * kPanel, group.panels * kPanel);
    FindWeights(plan, at, args.weights, &group,
                reinterpret_cast<T *>(scratch + layout.filter));
    Multiply(plan, at, group, scratch);
    TransformOutputs(plan, at, group, args, results,
                     reinterpret_cast<const T *>(scratch + layout.products));
  }
}

}  // namespace

size_t FilterElements(const ConvPlan &plan) {
  return plan.each_run
             ? 0
             : static_cast<size_t>(Points(plan.tile)) * plan.filter_stride;
}

ConvPlan PlanConv(const PlanRequest &request) {
  ConvPlan p;
  p.shape = request.shape;
  p.tile = request.method.tile;
  p.each_run = request.method.each_run;
  p.weight_type = request.weight_type;
  p.transforms =
      p.tile == 2 ? &request.kernels->tile2 : &request.kernels->tile4;
  p.gemm = request.gemm;
  p.fp16 = request.fp16;
  p.tiles_h = DivideUp(p.shape.out_h, p.tile);
  p.tiles_w = DivideUp(p.shape.out_w, p.tile);
  p.tiles = p.shape.batch * p.tiles_h * p.tiles_w;
  p.panels = DivideUp(p.shape.out_c, kPanel);
  p.panel_block = p.panels;
  SplitTiles(&p, DivideUp(p.tiles, BlockTiles(p.shape, request.method)));
  SplitForThreads(&p, request.threads);
  p.group_panels = GroupPanels(p);
  const Index panels = p.each_run ? p.group_panels : p.panels;
  p.filter_stride = PointStride(static_cast<size_t>(panels * p.shape.in_c));
  p.tasks = p.tile_blocks * p.panel_blocks;
  p.scratch_bytes = LayOutScratch(p).end;
  return p;
}

void RunConvTask(const ConvPlan &plan,
                 const gemm::ConvArgs &args,
                 ptrdiff_t task,
                 void *scratch) {
  char *own = static_cast<char *>(scratch);
  if (plan.fp16 != nullptr) {
    RunTask(plan, args, args.input_half,
            Results<uint16_t>{args.output_half, args.residual_half}, task, own);
  } else {
    RunTask(plan, args, args.input,
            Results<float>{args.output, args.epilogue.residual}, task, own);
  }
}

ptrdiff_t Regions(const ConvPlan &plan, ptrdiff_t task) {
  const Task at = Locate(plan, task);
  const Index first = at.tile_begin / plan.tiles_w;
  const Index last = (at.tile_end - 1) / plan.tiles_w;
  return (last - first + 1) * plan.tile;
}

gemm::ConvRegion RegionOf(const ConvPlan &plan,
                          ptrdiff_t task,
                          ptrdiff_t index) {
  const gemm::ConvShape &s = plan.shape;
  const Task at = Locate(plan, task);
  // Tiles of the block that lie side by side, and one of their rows.
  const Index line = at.tile_begin / plan.tiles_w + index / plan.tile;
  const Index begin = std::max(at.tile_begin, line * plan.tiles_w);
  const Index end = std::min(at.tile_end, (line + 1) * plan.tiles_w);
  const Place place = PlaceOf(plan, begin);
  const Index h = place.h + index % plan.tile;
  gemm::ConvRegion r;
  r.column_begin = at.panel_begin * kPanel;
  r.column_end = std::min(s.out_c, at.panel_end * kPanel);
  r.row_begin = (place.n * s.out_h + h) * s.out_w + place.w;
  r.row_end = r.row_begin;
  if (h < s.out_h) {
    r.row_end += std::min((end - begin) * plan.tile, s.out_w - place.w);
  }
  return r;
}

}  // namespace mace::winograd
