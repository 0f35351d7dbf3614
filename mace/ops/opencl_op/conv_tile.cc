// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/conv_tile.h"
#include "mace/core/base/divide.h"

#include <algorithm>
#include <cmath>

namespace mace {
namespace {

// The arithmetic and the reads of one compute unit, in cycles of a wave.
struct UnitModel {
  double lanes;      // of a wave
  double multiply;   // 16 multiply-adds of each lane
  double read;       // a vector of four for each lane
  double latency;    // from a read to its value
  double registers;  // for vectors of four, of each lane of all waves
};

// Rough assumptions, none of which was measured: NVIDIA's multiprocessor issues
// four instructions and reads 128 bytes from its first cache in a cycle; a
// shader processor of an Adreno issues one, and reads four texels. Cores of a
// Mali are taken as like the latter, with narrower waves.
UnitModel ModelOf(GpuFamily family) {
  switch (family) {
    case GpuFamily::kNvidia:
    case GpuFamily::kAmd:
      return {32, 4, 4, 500, 512};
    case GpuFamily::kIntel:
      return {16, 8, 8, 400, 512};
    case GpuFamily::kCpu:
      return {1, 16, 1, 0, 1e6};
    case GpuFamily::kMali:
      return {16, 8, 8, 300, 256};
    default:
      return {64, 16, 16, 300, 192};
  }
}

bool IsDesktop(GpuFamily family) {
  return family == GpuFamily::kNvidia || family == GpuFamily::kAmd;
}

// The tiles of a work group. A Mali of the first generations runs no more than
// 64 items of a kernel with many registers.
int64_t LanesOf(const GpuTraits &gpu) {
  const int64_t lanes = IsDesktop(gpu.family) ? 32 : 16;
  return std::min(lanes, static_cast<int64_t>(gpu.max_work_group));
}

int64_t SharedBytes(const GpuTraits &gpu, const ConvTile &tile) {
  constexpr int64_t kVectorBytes = 16;
  if (tile.split == 1) return 0;
  return kVectorBytes * LanesOf(gpu) * tile.split * tile.pixels * tile.blocks;
}

// Whether work groups are those of the kernel, with neighbours in channels,
// which are next to each other in a buffer, and in pixels. In an image only
// neighbours in pixels are close, and the runtime's work groups are as good.
bool HasLanes(const GpuTraits &gpu, const ConvTile &tile) {
  return tile.split > 1 || !gpu.images;
}

double Cycles(const GpuTraits &gpu, const ConvTile &tile, const ConvSize &s) {
  const UnitModel unit = ModelOf(gpu.family);
  const double area = tile.pixels * tile.blocks;
  const double multiply = unit.multiply * area;
  const double read = unit.read * (tile.pixels + 4 * tile.blocks);
  const double step = std::max(multiply, read) + 0.2 * std::min(multiply, read);
  const auto steps = static_cast<double>(DivideUp(s.steps, tile.split));
  const auto items = static_cast<double>(
      s.images * s.groups * DivideUp(s.pixels, tile.pixels) *
      DivideUp(s.out_blocks, tile.blocks) * tile.split);
  const double waves =
      std::ceil(items / unit.lanes / static_cast<double>(gpu.compute_units));
  // Sums, inputs, weights, and about four of positions.
  const double vectors = area + tile.pixels + 8;
  const double resident = std::max(1.0, std::floor(unit.registers / vectors));
  const double rounds = std::ceil(waves / resident);
  double cycles = steps * std::max(waves * step, rounds * unit.latency);
  if (tile.split > 1) {
    cycles += waves * (unit.read * 3 * area) + unit.latency;
  }
  return cycles;
}

}  // namespace

std::vector<ConvTile> ConvTiles(const GpuTraits &gpu) {
  std::vector<ConvTile> tiles;
  if (IsDesktop(gpu.family)) {
    // NVIDIA's compiler leaves room for 256 items with this many registers.
    tiles = {{8, 2, 1}, {4, 2, 8}, {4, 1, 8}};
  } else {
    tiles = {{4, 2, 1}, {4, 1, 1}, {1, 1, 1}};
    // A processor's items don't wait for reads.
    if (gpu.family != GpuFamily::kCpu) tiles.push_back({4, 1, 4});
  }
  const auto fits = [&gpu](const ConvTile &tile) {
    if (!HasLanes(gpu, tile)) return true;
    return static_cast<size_t>(SharedBytes(gpu, tile)) <= gpu.local_bytes &&
           static_cast<size_t>(LanesOf(gpu) * tile.split) <= gpu.max_work_group;
  };
  std::vector<ConvTile> kept;
  for (const ConvTile &tile : tiles) {
    if (fits(tile)) kept.push_back(tile);
  }
  return kept;
}

size_t ChooseConvTile(const GpuTraits &gpu,
                      const std::vector<ConvTile> &tiles,
                      const ConvSize &size) {
  size_t best = 0;
  double least = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    const double cycles = Cycles(gpu, tiles[i], size);
    if (i > 0 && cycles >= least) continue;
    best = i;
    least = cycles;
  }
  return best;
}

ConvTile TunedConvTile(const OpenclPlanContext &context,
                       const ClSource &source,
                       const ConvSize &size) {
  const std::vector<ConvTile> tiles = ConvTiles(context.gpu());
  // 40201: 4 pixels, 2 blocks, no split. Indices would change with the list.
  std::vector<int> codes;
  for (const ConvTile &tile : tiles) {
    codes.push_back((tile.pixels * 100 + tile.blocks) * 100 + tile.split);
  }
  const size_t guess = ChooseConvTile(context.gpu(), tiles, size);
  const int code = context.Choose(source, "TILE", codes, codes[guess]);
  const auto found = std::find(codes.begin(), codes.end(), code);
  return tiles[static_cast<size_t>(found - codes.begin())];
}

void DivideConv(const GpuTraits &gpu,
                const ConvTile &tile,
                const ConvSize &size,
                Launch *launch) {
  const int64_t channel_tiles =
      size.groups * DivideUp(size.out_blocks, tile.blocks);
  const int64_t pixel_tiles = DivideUp(size.pixels, tile.pixels);
  launch->Define("PIXELS", tile.pixels).Define("BLOCKS", tile.blocks);
  if (!HasLanes(gpu, tile)) {
    launch->Items(pixel_tiles, channel_tiles, size.images);
    return;
  }
  // Of neighbours in channels, which in a buffer are next to each other. A
  // group of 8 x 4 reads each vector of inputs 8 times, and each of weights 4
  // times.
  const int64_t all = LanesOf(gpu);
  int64_t lanes = 1;
  while (!gpu.images && lanes < 8 && lanes < channel_tiles) lanes *= 2;
  launch->Define("LANES", all).Define("SPLIT", tile.split).Int(lanes);
  if (tile.split > 1) {
    launch->Local(static_cast<size_t>(SharedBytes(gpu, tile)));
  }
  launch
      ->Items(DivideUp(pixel_tiles, all / lanes) * all,
              DivideUp(channel_tiles, lanes) * tile.split, size.images)
      .WorkGroup(all, tile.split);
}

}  // namespace mace
