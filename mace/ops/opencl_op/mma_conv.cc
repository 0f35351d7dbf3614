// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/mma_conv.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "mace/core/base/half.h"

namespace mace {
namespace {

constexpr int64_t kBlock = 32;  // channels of a warp, and of a step
constexpr int64_t kPacked = 16;

template <typename T, typename ToHalf>
void Rearrange(const Tensor &filter, ToHalf to_half, uint16_t *to) {
  const int64_t rank = static_cast<int64_t>(filter.shape.rank());
  const int64_t out = filter.shape[0];
  const int64_t in = filter.shape[static_cast<size_t>(rank - 1)];
  const int64_t taps = filter.shape.Elements(1, filter.shape.rank() - 1);
  const int64_t chunks = (in + kBlock - 1) / kBlock;
  const T *from = filter.As<T>();
  for (int64_t block = 0; block < (out + kBlock - 1) / kBlock; ++block) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        for (int64_t s = 0; s < 4; ++s) {
          for (int64_t lane = 0; lane < 32; ++lane) {
            const int64_t o = block * kBlock + 4 * (lane / 4) + s;
            const int64_t i0 = chunk * kBlock + 8 * (lane % 4);
            const T *source =
                from + (o / kPacked * taps * in + tap * in + i0) * kPacked +
                o % kPacked;
            for (int64_t j = 0; j < 8; ++j) {
              const bool inside = o < out && i0 + j < in;
              *to++ = inside ? to_half(source[j * kPacked]) : uint16_t{0};
            }
          }
        }
      }
    }
  }
}

MaceStatus MakeMmaFilter(const Tensor &filter, std::vector<uint8_t> *bytes) {
  const int64_t out = (filter.shape[0] + kBlock - 1) / kBlock * kBlock;
  const int64_t in = (filter.shape.back() + kBlock - 1) / kBlock * kBlock;
  const int64_t taps = filter.shape.Elements(1, filter.shape.rank() - 1);
  bytes->resize(static_cast<size_t>(out * in * taps) * sizeof(uint16_t));
  auto *to = reinterpret_cast<uint16_t *>(bytes->data());
  if (filter.data_type == DataType::kFloat16) {
    Rearrange<uint16_t>(filter, [](uint16_t v) { return v; }, to);
  } else {
    Rearrange<float>(filter, FloatToHalf, to);
  }
  return MaceStatus();
}

// Warps of a work group.
constexpr int kWarps = 8;

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How many warps a work group has in each direction, and how many tiles of 8
// pixels a warp computes.
struct Division {
  int tiles;
  int warps_o;
  int warps_p;
  int warps_k;
};

// A model of the time of the slowest multiprocessor, in cycles, fitted to
// measurements of an H200: a warp waits for its loads, and a multiprocessor can
// hide that behind other warps.
double Cycles(const GpuTraits &gpu,
              int64_t blocks,
              int64_t pixels,
              int64_t steps,
              bool depthwise,
              const Division &d) {
  constexpr double kLatency =
      600;                      // of a step: loads that wait for nothing else
  constexpr double kStep = 32;  // of issue, with the weights
  constexpr double kTile = 20;
  constexpr double kDepthwise = 160;  // of a tile
  constexpr double kSplit = 120;
  const auto groups =
      static_cast<double>(DivideUp(pixels, int64_t{8} * d.tiles * d.warps_p) *
                          DivideUp(blocks, d.warps_o));
  const auto rounds = static_cast<double>(DivideUp(steps, d.warps_k));
  double issue = kStep + kTile * d.tiles;
  if (depthwise) {
    issue += kDepthwise * static_cast<double>(DivideUp(d.tiles, d.warps_o));
  }
  const double groups_of_one =
      std::ceil(groups / static_cast<double>(gpu.compute_units));
  // Four schedulers issue the warps of a multiprocessor.
  const double busy = groups_of_one * kWarps / 4 * issue * rounds;
  const double latency = (depthwise ? 2 : 1) * kLatency * rounds;
  double cycles = std::max(busy, latency) + 0.2 * std::min(busy, latency);
  if (d.warps_k > 1) cycles += kSplit + 16 * d.warps_k;
  return cycles;
}

}  // namespace

const ConstantForm kMmaFilter = {"mma", MakeMmaFilter};

void DivideMma(const GpuTraits &gpu,
               int64_t channels,
               int64_t pixels,
               int64_t steps,
               bool depthwise,
               Launch *launch) {
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  int tiles = 1;
  int warps_o = 1;
  int warps_k = kWarps;
  double best = 0;
  for (int t : {1, 4}) {
    for (int o = 1; o <= kWarps; o *= 2) {
      for (int k = 1; o * k <= kWarps; k *= 2) {
        const int p = kWarps / (o * k);
        const double cycles =
            Cycles(gpu, blocks, pixels, steps, depthwise, {t, o, p, k});
        if (best != 0 && cycles >= best) continue;
        best = cycles;
        tiles = t;
        warps_o = o;
        warps_k = k;
      }
    }
  }
  const int warps_p = kWarps / (warps_o * warps_k);
  const int64_t group_pixels = 8 * tiles * warps_p;
  launch->Define("TILES", tiles)
      .Ints(warps_o, warps_p, warps_k, 0)
      .Items(DivideUp(pixels, group_pixels) * 32,
             DivideUp(blocks, warps_o) * kWarps)
      .WorkGroup(32, kWarps);
}

}  // namespace mace
