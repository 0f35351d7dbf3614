// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The part of a convolution that a task computes, and the layout of its scratch
// memory. Included only by conv_plan.cc and conv_winograd.cc.

#ifndef MACE_KERNELS_CPU_WINOGRAD_CONV_TASK_H_
#define MACE_KERNELS_CPU_WINOGRAD_CONV_TASK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::winograd {

using Index = ptrdiff_t;

inline constexpr Index kPanel = static_cast<Index>(gemm::kPanelColumns);

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index RoundUp(Index a, Index b) { return DivideUp(a, b) * b; }

// Bytes of a transformed value; a value of the image is no larger.
inline Index PointBytes(const ConvPlan &p) {
  return static_cast<Index>(gemm::ElementBytes(p.arithmetic->element));
}

// Values from one point to the next, for `rows` rows.
inline Index Stride(Index rows, Index row_length) {
  return static_cast<Index>(
      PointStride(static_cast<size_t>(rows * row_length / kPanel)));
}

// Values in a row of inputs and products.
inline Index RowElements(const ConvPlan &p) {
  return RoundUp(p.shape.in_c, kPanel);
}
inline Index GroupElements(const ConvPlan &p) {
  return p.group_panels * kPanel;
}

// Parts of a task's scratch memory, in bytes. Its points are those of its rows.
struct Scratch {
  size_t inputs;    // [points][tile_block][in_c]
  size_t products;  // [points][tile_block][columns of a group]; not with halves
  size_t filter;    // [points][panels of a group][in_c][16], with each_run
  size_t zeros;     // [in_c], of the image
  size_t rows;      // pointers to the inputs of one point
  size_t sums;      // [tile_block][16] floats, for fp16 alone
  size_t end;
};

Scratch LayOutScratch(const ConvPlan &p);

// All products of a block: [t * t][tile_block][columns of a group].
size_t ProductBytes(const ConvPlan &p);

struct Task {
  Index block;  // by number, of tiles and panels
  Index tile_begin;
  Index tile_end;
  Index panel_begin;
  Index panel_end;
  Rows rows;  // of points
};

Task Locate(const ConvPlan &p, Index task);

// The region of the output that the task writes: all of its block, or with
// halves half of the tiles, possibly none.
Task LocateOutputs(const ConvPlan &p, Index task);

inline Index PointBegin(const ConvPlan &p, const Task &task) {
  return Index{RowBegin(p.tile + 2, task.rows)} * (p.tile + 2);
}
inline Index PointEnd(const ConvPlan &p, const Task &task) {
  return Index{RowEnd(p.tile + 2, task.rows)} * (p.tile + 2);
}

// The position of a tile's first pixel in the output; the next ones are
// shape.dilation_h and dilation_w pixels apart.
struct Place {
  Index n;
  Index h;
  Index w;
};

inline Place PlaceOf(const ConvPlan &p, Index tile) {
  Place place = {tile / (p.tiles_h * p.tiles_w),
                 tile / p.tiles_w % p.tiles_h * p.tile,
                 tile % p.tiles_w * p.tile};
  if (p.phases == 1) return place;
  const Index rows = p.shape.dilation_h;
  const Index columns = p.shape.dilation_w;
  place.h = place.h * rows + place.n / columns % rows;
  place.w = place.w * columns + place.n % columns;
  place.n /= p.phases;
  return place;
}

// How many of a tile's rows, or columns, are inside the output: `first` is the
// first, and the next ones are `step` apart. None if `first` is not.
inline Index Inside(Index tile, Index first, Index step, Index size) {
  return first < size ? std::min(tile, DivideUp(size - first, step)) : 0;
}

}  // namespace mace::winograd

#endif  // MACE_KERNELS_CPU_WINOGRAD_CONV_TASK_H_
