// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Chooses the fastest method by an estimate of its time.

#include <algorithm>

#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::winograd {
namespace {

using Index = ptrdiff_t;

constexpr Index kPanel = static_cast<Index>(gemm::kPanelColumns);

// Size of the transformed tiles and products of a block. Measured on Zen 5 with
// 1 MiB of L2: 256 KiB to 1 MiB differ by less than the noise (3 %) on most
// layers, since the products of each point use only 1 / (t * t) of it at a
// time.
constexpr Index kBlockBytes = 512 * 1024;
// Every block reads, or transforms, the whole filter.
constexpr Index kMinBlockTiles = 24;
constexpr Index kMinBlockTilesEachRun = 64;
constexpr Index kMaxBlockTiles = 256;

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index RoundUp(Index a, Index b) { return DivideUp(a, b) * b; }

Index Points(int tile) { return Index{tile + 2} * (tile + 2); }

// Costs relative to the time of one multiply-accumulate of a matrix product.
// They were fitted to 23 layers of 16 to 512 channels and 4x4 to 224x224 pixels
// on one core of Zen 5 with AVX-512 (127 GMAC/s, 1 MiB of L2); the method that
// they choose took at most 12 % longer than the best of direct, 2 and 4.
//
// A transform uses vectors as wide as the product's, and takes about 6
// operations for each of its t * t values per channel; pointers and calls cost
// about 400 operations more per tile.
constexpr double kTransformCost = 6.0;
constexpr double kTileCost = 400.0;
// With fewer rows, the time of a product is limited by loading weights into
// registers.
constexpr double kMinRows = 4.0;
// Reading a float of the filter costs little from L2 (2.4 MB: 1.2) and up to 12
// from memory (38 MB); linear between the two. The cost matters most with
// AVX-512, so slower cores choose the larger filter slightly less often than
// would be best.
constexpr double kMaxStreamCost = 10.0;
constexpr double kStreamCostBytes = 2.0 * 1024 * 1024;

double StreamCost(double floats) {
  return floats * std::min(kMaxStreamCost, floats * 4.0 / kStreamCostBytes);
}

bool Fits(const conv::Shape &s) {
  return s.kernel_h == 3 && s.kernel_w == 3 && s.stride_h == 1 &&
         s.stride_w == 1 && s.groups == 1;
}

Index TileCount(const conv::Shape &s, int tile) {
  return s.batch * s.dilation_h * s.dilation_w *
         TilesOf(s.out_h, s.dilation_h, tile) *
         TilesOf(s.out_w, s.dilation_w, tile);
}

double FilterFloats(const conv::Shape &s, int tile) {
  return static_cast<double>(Points(tile) * s.in_c * RoundUp(s.out_c, kPanel));
}

// The cost with a filter that is transformed before the first run.
double WinogradCost(const conv::Shape &s, int tile) {
  const Index count = TileCount(s, tile);
  const double tiles = static_cast<double>(count);
  const double blocks =
      static_cast<double>(DivideUp(count, BlockTiles(s, {tile, false})));
  const double points = static_cast<double>(Points(tile));
  const double in_c = static_cast<double>(s.in_c);
  const double out_c = static_cast<double>(RoundUp(s.out_c, kPanel));
  const double products = std::max(tiles, kMinRows) * in_c * out_c;
  const double transforms =
      tiles * (kTransformCost * (in_c + out_c) + kTileCost);
  return points * (products + transforms) +
         blocks * StreamCost(FilterFloats(s, tile));
}

// The products of one axis whose pixel is inside the image. The direct product
// leaves out the others, which are many with large dilations. Without dilation
// they are few: the costs above were fitted to layers that have them.
Index ProductsInside(Index in, Index out, Index dilation, Index pad) {
  if (dilation == 1) return 3 * out;
  Index inside = 0;
  for (Index tap = 0; tap < 3; ++tap) {
    const Index first = tap * dilation - pad;  // the pixel of output 0
    inside += std::max<Index>(
        0, std::min(out, in - first) - std::max<Index>(0, -first));
  }
  return inside;
}

// A faster product has smaller weights, which are also read faster.
double DirectCost(const conv::Shape &s, double rate) {
  const Index inside =
      ProductsInside(s.in_h, s.out_h, s.dilation_h, s.pad_top) *
      ProductsInside(s.in_w, s.out_w, s.dilation_w, s.pad_left);
  const double rows = static_cast<double>(s.batch * inside) / 9.0;
  const double weights = 9.0 * static_cast<double>(s.in_c) *
                         static_cast<double>(RoundUp(s.out_c, kPanel));
  return (std::max(rows, kMinRows) * weights + StreamCost(weights)) / rate;
}

// Whether each run should transform the filter. This reads 9 of every t * t
// floats, and costs kFilterCost for each of these in every block. Otherwise all
// floats are read from memory once per run, since the layers in between leave
// little of them in cache. With narrower vectors an operation takes longer but
// memory is equally fast: with 4 lanes, transforming in each run is never
// faster.
constexpr double kFilterCost = 3.0;
constexpr double kFullLanes = 16.0;
// Smaller filters need little memory and little time to read. With the 52
// layers of DenseNet-121 of 128 channels and 32 filters each (576 KiB, 29 MiB
// in all) on Zen 5, a run that transforms them takes 1.02 times as long on one
// thread and less than before on two, which wait longer for memory; the process
// needs 46 MiB instead of 75.
constexpr double kMinEachRunBytes = 512.0 * 1024;

bool TransformsInEachRun(const conv::Shape &s, int tile, int lanes) {
  const double floats = FilterFloats(s, tile);
  if (floats * sizeof(float) < kMinEachRunBytes) return false;
  const double memory = kMaxStreamCost * lanes / kFullLanes;
  const double saved = 1.0 - 9.0 / static_cast<double>(Points(tile));
  const Index blocks =
      DivideUp(TileCount(s, tile), BlockTiles(s, {tile, true}));
  return static_cast<double>(blocks) * kFilterCost < saved * memory;
}

}  // namespace

ptrdiff_t BlockTiles(const conv::Shape &shape, const Method &method) {
  const Index group = static_cast<Index>(gemm::kMaxGroupPanels) * kPanel;
  const Index columns = std::min(RoundUp(shape.out_c, kPanel), group);
  const Index tile_bytes = Points(method.tile) *
                           (RoundUp(shape.in_c, kPanel) + columns) *
                           static_cast<Index>(sizeof(float));
  return std::clamp(kBlockBytes / tile_bytes,
                    method.each_run ? kMinBlockTilesEachRun : kMinBlockTiles,
                    kMaxBlockTiles);
}

Method Choose(const ChooseRequest &request) {
  const conv::Shape &shape = request.shape;
  Method best;
  if (!Fits(shape)) return best;
  double cost = DirectCost(shape, request.direct_rate);
  for (int tile = 2; tile <= std::min(request.max_tile, 4); tile += 2) {
    const double candidate = WinogradCost(shape, tile);
    if (candidate < cost) {
      best.tile = tile;
      cost = candidate;
    }
  }
  best.each_run =
      best.tile != 0 && TransformsInEachRun(shape, best.tile, request.lanes);
  return best;
}

}  // namespace mace::winograd
