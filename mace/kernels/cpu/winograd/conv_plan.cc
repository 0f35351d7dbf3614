// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Divides a convolution into tasks.

#include <algorithm>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/winograd/conv_task.h"

namespace mace::winograd {
namespace {

// Products are computed and transformed back for this many panels at a time,
// which is the widest group of columns of the matrix kernels. The buffer for
// products therefore does not grow with the number of filters.
constexpr Index kMaxGroup = static_cast<Index>(gemm::kMaxGroupPanels);

// If each run transforms the filter, the group is as wide as this size allows.
constexpr Index kGroupFilterBytes = 1280 * 1024;

Index Points(int tile) { return Index{tile + 2} * (tile + 2); }

// Points that a task multiplies.
Index TaskPoints(const ConvPlan &p) {
  return p.halves ? Points(p.tile) / 2 : Points(p.tile);
}

Index GroupPanels(const ConvPlan &p) {
  const Index most = std::min(p.panel_block, kMaxGroup);
  if (!p.each_run) return most;
  const Index panel_bytes =
      TaskPoints(p) * p.shape.in_c * kPanel * PointBytes(p);
  return std::clamp(kGroupFilterBytes / panel_bytes, Index{1}, most);
}

size_t Align(Index size) { return AlignUp(static_cast<size_t>(size)); }

void SplitTiles(ConvPlan *p, Index blocks) {
  p->tile_block = DivideUp(p->tiles, blocks);
  p->tile_blocks = DivideUp(p->tiles, p->tile_block);
}

void SplitPanels(ConvPlan *p, Index parts) {
  p->panel_block = DivideUp(p->panels, parts);
  p->panel_blocks = DivideUp(p->panels, p->panel_block);
}

// Whether to divide tiles, so that each part reads or transforms the whole
// filter, instead of columns, so that each part transforms all tiles.
bool TilesAreCheaper(const ConvPlan &p, Index blocks) {
  constexpr Index kMinSplitTiles = 12;
  if (p.tiles / blocks < kMinSplitTiles) return false;
  // Transforming a vector of the filter takes as long as two vectors of the
  // image.
  return !p.each_run || p.panels * kPanel < 2 * p.tiles;
}

// Whether two tasks should share the points of a block. If columns were
// divided, both tasks would transform all tiles, and each product would have
// few columns; if tiles were divided, both would transform the filter. When
// points are shared, half of the products are read from another core's cache,
// so there must be fewer products than inputs. On 2 threads of Zen 5, layers of
// 128 channels and 32 filters took 0.83 times as long at 14x14 pixels, 0.82 at
// 7x7 and 0.95 at 28x28, including the gain of Fetch.
bool HalvesAreCheaper(ConvPlan p) {
  if (!p.each_run || p.transforms->input[kFirstRows] == nullptr) return false;
  if (p.tile_blocks > 1 || p.tiles < 2) return false;
  p.halves = true;
  return GroupPanels(p) == p.panels && 2 * p.panels * kPanel <= p.shape.in_c;
}

// Gives all threads equally many tasks of equal size if there are few tasks.
void SplitForThreads(ConvPlan *p, int threads) {
  constexpr Index kEnoughTasks = 16;  // per thread
  if (threads <= 1 || p->tile_blocks >= kEnoughTasks * threads) return;
  if (threads % 2 == 0 && HalvesAreCheaper(*p)) {
    p->halves = true;
    threads /= 2;
    if (threads == 1) return;
  }
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

}  // namespace

size_t ProductBytes(const ConvPlan &p) {
  return Align(Points(p.tile) * Stride(p.tile_block, GroupElements(p)) *
               PointBytes(p));
}

Scratch LayOutScratch(const ConvPlan &p) {
  const Index bytes = PointBytes(p);
  const Index points = TaskPoints(p);
  Scratch s;
  s.inputs = 0;
  s.products = Align(points * Stride(p.tile_block, RowElements(p)) * bytes);
  s.filter = s.products + (p.halves ? 0 : ProductBytes(p));
  s.zeros = s.filter;
  if (p.each_run) {
    s.zeros += Align(points * static_cast<Index>(p.filter_stride) * bytes);
  }
  s.rows = s.zeros + Align(RowElements(p) * bytes);
  s.sums = s.rows + Align(p.tile_block * static_cast<Index>(sizeof(void *)));
  s.end = s.sums;
  if (p.arithmetic->element == gemm::Element::kF16) {
    s.end += Align(p.tile_block * kPanel * static_cast<Index>(sizeof(float)));
  }
  return s;
}

Task Locate(const ConvPlan &p, Index task) {
  Task at;
  at.block = p.halves ? task / 2 : task;
  at.rows = !p.halves ? kAllRows : task % 2 == 0 ? kFirstRows : kLastRows;
  at.tile_begin = at.block / p.panel_blocks * p.tile_block;
  at.tile_end = std::min(p.tiles, at.tile_begin + p.tile_block);
  at.panel_begin = at.block % p.panel_blocks * p.panel_block;
  at.panel_end = std::min(p.panels, at.panel_begin + p.panel_block);
  return at;
}

Task LocateOutputs(const ConvPlan &p, Index task) {
  Task at = Locate(p, task);
  const Index middle = at.tile_begin + DivideUp(at.tile_end - at.tile_begin, 2);
  if (at.rows == kFirstRows) at.tile_end = middle;
  if (at.rows == kLastRows) at.tile_begin = middle;
  return at;
}

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
  p.image = request.image;
  p.arithmetic = request.arithmetic;
  p.phases = p.shape.dilation_h * p.shape.dilation_w;
  p.tiles_h = TilesOf(p.shape.out_h, p.shape.dilation_h, p.tile);
  p.tiles_w = TilesOf(p.shape.out_w, p.shape.dilation_w, p.tile);
  p.tiles = p.shape.batch * p.phases * p.tiles_h * p.tiles_w;
  p.panels = DivideUp(p.shape.out_c, kPanel);
  p.panel_block = p.panels;
  SplitTiles(&p, DivideUp(p.tiles, BlockTiles(p.shape, request.method)));
  SplitForThreads(&p, request.threads);
  p.group_panels = GroupPanels(p);
  const Index panels = p.each_run ? p.group_panels : p.panels;
  p.filter_stride = PointStride(static_cast<size_t>(panels * p.shape.in_c));
  p.tasks = p.tile_blocks * p.panel_blocks;
  if (p.halves) {
    p.shared_bytes = static_cast<size_t>(p.tasks) * ProductBytes(p);
    p.tasks *= 2;
    p.output_tasks = p.tasks;
  }
  p.scratch_bytes = LayOutScratch(p).end;
  return p;
}

ptrdiff_t Regions(const ConvPlan &plan, ptrdiff_t task) {
  const Task at = LocateOutputs(plan, task);
  if (at.tile_begin == at.tile_end) return 0;
  if (plan.phases > 1) {
    return (at.tile_end - at.tile_begin) * plan.tile * plan.tile;
  }
  const Index first = at.tile_begin / plan.tiles_w;
  const Index last = (at.tile_end - 1) / plan.tiles_w;
  return (last - first + 1) * plan.tile;
}

conv::Region RegionOf(const ConvPlan &plan, ptrdiff_t task, ptrdiff_t index) {
  const conv::Shape &s = plan.shape;
  const Task at = LocateOutputs(plan, task);
  conv::Region r;
  r.column_begin = at.panel_begin * kPanel;
  r.column_end = std::min(s.out_c, at.panel_end * kPanel);
  if (plan.phases > 1) {
    const Index pixels = Index{plan.tile} * plan.tile;
    const Place place = PlaceOf(plan, at.tile_begin + index / pixels);
    const Index h = place.h + index % pixels / plan.tile * s.dilation_h;
    const Index w = place.w + index % plan.tile * s.dilation_w;
    r.row_begin = (place.n * s.out_h + h) * s.out_w + w;
    r.row_end = r.row_begin + (h < s.out_h && w < s.out_w ? 1 : 0);
    return r;
  }
  // Tiles of the block that are in the same row of tiles, and one of their
  // pixel rows.
  const Index line = at.tile_begin / plan.tiles_w + index / plan.tile;
  const Index begin = std::max(at.tile_begin, line * plan.tiles_w);
  const Index end = std::min(at.tile_end, (line + 1) * plan.tiles_w);
  const Place place = PlaceOf(plan, begin);
  const Index h = place.h + index % plan.tile;
  r.row_begin = (place.n * s.out_h + h) * s.out_w + place.w;
  r.row_end = r.row_begin;
  if (h < s.out_h) {
    r.row_end += std::min((end - begin) * plan.tile, s.out_w - place.w);
  }
  return r;
}

}  // namespace mace::winograd
