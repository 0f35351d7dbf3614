// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/mma_conv.h"

#include <algorithm>
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

}  // namespace

const ConstantForm kMmaFilter = {"mma", MakeMmaFilter};

MmaTiles ChooseMmaTiles(const GpuTraits &gpu,
                        int64_t channels,
                        int64_t pixels,
                        int64_t steps,
                        bool shared) {
  // A model of the time of the slowest multiprocessor, in cycles; measured on
  // an H200. Sums of up to 4 tiles fit 48 KB of local memory with 8 warps.
  constexpr double kStepCycles = 60;
  constexpr double kTileCycles = 24;
  constexpr double kSplitCycles = 150;
  constexpr double kWarpsAtOnce = 16;
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  MmaTiles best;
  double best_cycles = 0;
  for (int tiles : {1, 2, 4}) {
    for (int warps_k : {1, 2, 4, 8}) {
      if (warps_k > 1 && steps < warps_k) continue;
      const int64_t tiles_p = (pixels + 8 * tiles - 1) / (8 * tiles);
      for (int warps_o : {1, 2, 4, 8}) {
        if (warps_o > 1 && (!shared || blocks < warps_o)) continue;
        if (warps_o * warps_k > 8) continue;
        const int64_t blocks_o = (blocks + warps_o - 1) / warps_o;
        const double groups = static_cast<double>(tiles_p * blocks_o);
        const double warps = groups * warps_o * warps_k;
        const double per_sm = warps / gpu.compute_units;
        const double rounds =
            static_cast<double>((steps + warps_k - 1) / warps_k);
        double step = kStepCycles + kTileCycles * tiles;
        if (shared) step += 400.0 * ((tiles + warps_o - 1) / warps_o);
        double cycles = rounds * step * std::max(1.0, per_sm / kWarpsAtOnce);
        if (warps_k > 1) cycles += kSplitCycles + 20 * warps_k;
        if (best_cycles == 0 || cycles < best_cycles) {
          best_cycles = cycles;
          best = {tiles, warps_o, 1, warps_k};
        }
      }
    }
  }
  // Without shared pixels, warps of neighbouring channels in a work group find
  // the same pixels in its cache.
  while (!shared && best.warps_o * best.warps_k < 4 &&
         blocks >= 2 * best.warps_o) {
    best.warps_o *= 2;
  }
  return best;
}

void SetMmaTiles(const MmaTiles &tiles,
                 int64_t channels,
                 int64_t pixels,
                 Launch *launch) {
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  const int64_t warps = tiles.warps_o * tiles.warps_p * tiles.warps_k;
  const int64_t group_pixels = 8 * tiles.tiles * tiles.warps_p;
  launch->Define("TILES", tiles.tiles)
      .Define("WARPS_O", tiles.warps_o)
      .Define("WARPS_P", tiles.warps_p)
      .Define("WARPS_K", tiles.warps_k)
      .Items((pixels + group_pixels - 1) / group_pixels * 32,
             (blocks + tiles.warps_o - 1) / tiles.warps_o * warps)
      .WorkGroup(32, warps);
}

}  // namespace mace
