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
constexpr Index kGroupPanels = static_cast<Index>(gemm::kMaxGroupPanels);

// Transformed tiles and products of a block. Measured on Zen 5 with 1 MiB of
// L2, 256 KiB to 1 MiB differ by less than the noise (3 %) on most layers,
// since each point's products use only 1 / (t * t) of it at a time.
constexpr Index kBlockBytes = 512 * 1024;
// Every block streams the whole transformed filter.
constexpr Index kMinBlockTiles = 24;
constexpr Index kMaxBlockTiles = 256;

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index RoundUp(Index a, Index b) { return DivideUp(a, b) * b; }

// Of an element of the image, and of what is transformed.
Index ElementBytes(const ConvPlan &p) {
  return p.fp16 != nullptr ? sizeof(uint16_t) : sizeof(float);
}

Index Points(int tile) { return Index{tile + 2} * (tile + 2); }

// Rows of 16 elements, an odd number of them from a point to the next: the t *
// t streams of a transform then spread over all sets of the cache.
Index PointStride(Index rows, Index row_length) {
  return (rows * row_length / kPanel | 1) * kPanel;
}

Index RowElements(const ConvPlan &p) { return RoundUp(p.shape.in_c, kPanel); }

Index GroupElements(const ConvPlan &p) {
  return std::min(p.panel_block, kGroupPanels) * kPanel;
}

// Tiles of a block by what should stay in cache.
Index BlockTiles(const gemm::ConvShape &s, int tile) {
  const Index columns =
      std::min(RoundUp(s.out_c, kPanel), kGroupPanels * kPanel);
  const Index tile_bytes = Points(tile) * (RoundUp(s.in_c, kPanel) + columns) *
                           static_cast<Index>(sizeof(float));
  return std::clamp(kBlockBytes / tile_bytes, kMinBlockTiles, kMaxBlockTiles);
}

// Parts of a task's scratch, in bytes.
struct Scratch {
  size_t inputs;    // [t * t][tile_block][in_c]
  size_t products;  // [t * t][tile_block][columns of a group]
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
  s.products =
      align(points * PointStride(p.tile_block, RowElements(p)) * bytes);
  s.zeros = s.products +
            align(points * PointStride(p.tile_block, GroupElements(p)) * bytes);
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

// As many equal tasks for one thread as for another, once there are so few that
// it matters. Tiles are split while blocks stay thick enough to pay for
// streaming the filter; else columns, each part of which transforms the same
// tiles again.
void SplitForThreads(ConvPlan *p, int threads) {
  constexpr Index kEnoughTasks = 4;  // per thread
  constexpr Index kMinSplitTiles = kMinBlockTiles / 2;
  if (threads <= 1 || p->tile_blocks >= kEnoughTasks * threads) return;
  const Index blocks = RoundUp(p->tile_blocks, threads);
  if (p->tiles / blocks >= kMinSplitTiles) {
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

template <typename T>
void TransformInputs(const ConvPlan &p,
                     const Task &task,
                     const T *input,
                     const T *zeros,
                     T *to) {
  const void *pixels[kMaxPoints];
  const Index row_length = RowElements(p);
  InputArgs args;
  args.pixels = pixels;
  args.channels = static_cast<size_t>(p.shape.in_c);
  args.to_stride = static_cast<size_t>(PointStride(p.tile_block, row_length));
  for (Index tile = task.tile_begin; tile < task.tile_end; ++tile) {
    PointAtPixels(p.shape, PlaceOf(p, tile), p.tile + 2, input, zeros, pixels);
    args.to = to;
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
  const T *next_w;  // of the group that follows
};

// The products of one point, by the kernels for its type.
void RunProducts(const ConvPlan &p,
                 const float *w,
                 const float *next_w,
                 float * /*sums*/,
                 gemm::Block *block) {
  block->w = w;
  block->next_w = next_w;
  p.gemm->run(*block);
}
void RunProducts(const ConvPlan &p,
                 const uint16_t *w,
                 const uint16_t * /*next_w*/,
                 float *sums,
                 gemm::Fp16Block *block) {
  block->w = w;
  block->sums = sums;
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
              const T *weights,
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
  const T *w = weights + group.panel * p.shape.in_c * kPanel;
  const Index point_stride = p.panels * p.shape.in_c * kPanel;
  for (Index point = 0; point < Points(p.tile); ++point) {
    for (Index i = 0; i < count; ++i) rows[i] = inputs + i * row_length;
    const T *next_w =
        point + 1 < Points(p.tile) ? w + point_stride : group.next_w;
    RunProducts(p, w, next_w, sums, &block);
    inputs += PointStride(p.tile_block, row_length);
    block.c += PointStride(p.tile_block, GroupElements(p));
    w += point_stride;
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
  out.from_stride =
      static_cast<size_t>(PointStride(p.tile_block, GroupElements(p)));
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
  TransformInputs(plan, at, input, zeros,
                  reinterpret_cast<T *>(scratch + layout.inputs));
  const T *weights = static_cast<const T *>(args.weights);
  for (Index panel = at.panel_begin; panel < at.panel_end;
       panel += kGroupPanels) {
    Group<T> group;
    group.panel = panel;
    group.panels = std::min(kGroupPanels, at.panel_end - panel);
    group.columns =
        std::min(plan.shape.out_c - panel * kPanel, group.panels * kPanel);
    const bool last = panel + kGroupPanels >= at.panel_end;
    group.next_w = weights + (last ? at.panel_begin : panel + kGroupPanels) *
                                 plan.shape.in_c * kPanel;
    Multiply(plan, at, group, weights, scratch);
    TransformOutputs(plan, at, group, args, results,
                     reinterpret_cast<const T *>(scratch + layout.products));
  }
}

// ---- choice ----------------------------------------------------------------

// Costs in the time of one multiply-accumulate of a matrix product, fitted to
// 23 layers of 16 to 512 channels and 4x4 to 224x224 pixels on one core of Zen
// 5 with AVX-512 (127 GMAC/s, 1 MiB of L2); what they choose took at most 12 %
// longer than the best of direct, 2 and 4.
//
// A transform handles vectors as the product does, about 6 operations for each
// of its t * t values per channel; a tile costs as much as 400 more for its
// pointers and calls.
constexpr double kTransformCost = 6.0;
constexpr double kTileCost = 400.0;
// A product of fewer rows is bound by loading weights into registers.
constexpr double kMinRows = 4.0;
// Streaming a filter costs little from L2 (2.4 MB: 1.2 per float) and up to 12
// from memory (38 MB); linear in between. This weighs most on AVX-512, so
// that slower cores take the larger filter a little less often than they could.
constexpr double kMaxStreamCost = 10.0;
constexpr double kStreamCostBytes = 2.0 * 1024 * 1024;

double StreamCost(double floats) {
  return floats * std::min(kMaxStreamCost, floats * 4.0 / kStreamCostBytes);
}

bool Fits(const gemm::ConvShape &s) {
  return s.kernel_h == 3 && s.kernel_w == 3 && s.stride_h == 1 &&
         s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1 &&
         s.groups == 1;
}

double WinogradCost(const gemm::ConvShape &s, int tile) {
  const Index count =
      s.batch * DivideUp(s.out_h, tile) * DivideUp(s.out_w, tile);
  const double tiles = static_cast<double>(count);
  const double blocks =
      static_cast<double>(DivideUp(count, BlockTiles(s, tile)));
  const double points = static_cast<double>(Points(tile));
  const double in_c = static_cast<double>(s.in_c);
  const double out_c = static_cast<double>(RoundUp(s.out_c, kPanel));
  const double products = std::max(tiles, kMinRows) * in_c * out_c;
  const double transforms =
      tiles * (kTransformCost * (in_c + out_c) + kTileCost);
  return points * (products + transforms) +
         blocks * StreamCost(points * in_c * out_c);
}

double DirectCost(const gemm::ConvShape &s) {
  const double rows = static_cast<double>(s.batch * s.out_h * s.out_w);
  const double weights = 9.0 * static_cast<double>(s.in_c) *
                         static_cast<double>(RoundUp(s.out_c, kPanel));
  return std::max(rows, kMinRows) * weights + StreamCost(weights);
}

}  // namespace

int ChooseTile(const gemm::ConvShape &shape, int max_tile) {
  if (!Fits(shape)) return 0;
  int best = 0;
  double cost = DirectCost(shape);
  for (int tile = 2; tile <= std::min(max_tile, 4); tile += 2) {
    const double candidate = WinogradCost(shape, tile);
    if (candidate < cost) {
      best = tile;
      cost = candidate;
    }
  }
  return best;
}

size_t FilterElements(const gemm::ConvShape &shape, int tile) {
  return static_cast<size_t>(Points(tile) * RoundUp(shape.out_c, kPanel) *
                             shape.in_c);
}

ConvPlan PlanConv(const PlanRequest &request) {
  ConvPlan p;
  p.shape = request.shape;
  p.tile = request.tile;
  p.transforms =
      p.tile == 2 ? &request.kernels->tile2 : &request.kernels->tile4;
  p.gemm = request.gemm;
  p.fp16 = request.fp16;
  p.tiles_h = DivideUp(p.shape.out_h, p.tile);
  p.tiles_w = DivideUp(p.shape.out_w, p.tile);
  p.tiles = p.shape.batch * p.tiles_h * p.tiles_w;
  p.panels = DivideUp(p.shape.out_c, kPanel);
  p.panel_block = p.panels;
  SplitTiles(&p, DivideUp(p.tiles, BlockTiles(p.shape, p.tile)));
  SplitForThreads(&p, request.threads);
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
    RunTask(plan, args, args.input_f16,
            Results<uint16_t>{args.output_f16, args.residual_f16}, task, own);
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
