// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/winograd_conv.h"

#include <vector>

#include "mace/core/base/divide.h"
#include "mace/core/base/half.h"
#include "mace/core/model/packed_filter.h"

namespace mace {
namespace {

// The thresholds of TensorFlow Lite's GPU delegate; they were not measured
// here.
constexpr int64_t kLeastBlocks = 16;
constexpr int64_t kLeastTiles = 32;
constexpr int64_t kLeastBlocksAdreno = 32;
constexpr int64_t kLeastTilesAdreno = 64;

// Of the transformed inputs and outputs together.
constexpr int64_t kMostScratchBytes = int64_t{64} << 20;

// G of F(2x2, 3x3), for the points 0, 1, -1, infinity.
constexpr double kFilter2[4][3] = {
    {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};

// G of F(4x4, 3x3), for the points 0, +-3/4, +-3/2, infinity: 1, p, p^2 over
// the derivative of x (x^2 - 9/16) (x^2 - 9/4) at p.
constexpr double kA = 0.75;
constexpr double kB = 1.5;
constexpr double kAt0 = 1 / (kA * kA * kB * kB);
constexpr double kAtA = 1 / (2 * kA * kA * (kA * kA - kB * kB));
constexpr double kAtB = 1 / (2 * kB * kB * (kB * kB - kA * kA));
constexpr double kFilter4[6][3] = {{kAt0, 0, 0},
                                   {kAtA, kA *kAtA, kA *kA *kAtA},
                                   {kAtA, -kA *kAtA, kA *kA *kAtA},
                                   {kAtB, kB *kAtB, kB *kB *kAtB},
                                   {kAtB, -kB *kAtB, kB *kB *kAtB},
                                   {0, 0, 1}};

constexpr int64_t kTaps = 9;

template <typename T, int kPoints, typename ToDouble, typename FromDouble>
void Transform(const Tensor &filter,
               const double (&g)[kPoints][3],
               ToDouble to_double,
               FromDouble from_double,
               T *to) {
  const int64_t in = filter.shape.back();
  const int64_t blocks = DivideUp(filter.shape[0], kPackedBlock);
  const int64_t of_tap = in * kPackedBlock;
  const T *from = filter.As<T>();
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t k = 0; k < of_tap; ++k) {
      double taps[3][3];
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        taps[tap / 3][tap % 3] =
            to_double(from[(block * kTaps + tap) * of_tap + k]);
      }
      double rows[kPoints][3];
      for (int i = 0; i < kPoints; ++i) {
        for (int x = 0; x < 3; ++x) {
          rows[i][x] = 0;
          for (int y = 0; y < 3; ++y) rows[i][x] += g[i][y] * taps[y][x];
        }
      }
      for (int i = 0; i < kPoints; ++i) {
        for (int j = 0; j < kPoints; ++j) {
          double v = 0;
          for (int x = 0; x < 3; ++x) v += rows[i][x] * g[j][x];
          to[((i * kPoints + j) * blocks + block) * of_tap + k] =
              from_double(v);
        }
      }
    }
  }
}

template <int kPoints>
MaceStatus MakeFilter(const Tensor &filter,
                      const double (&g)[kPoints][3],
                      MappedMemory *bytes) {
  const int64_t elements = kPoints * kPoints * filter.shape.back() *
                           DivideUp(filter.shape[0], kPackedBlock) *
                           kPackedBlock;
  if (filter.data_type == DataType::kFloat16) {
    MACE_ASSIGN_OR_RETURN(uint16_t *to,
                          AllocateForm<uint16_t>(filter, elements, bytes));
    Transform<uint16_t, kPoints>(
        filter, g, [](uint16_t v) { return double{HalfToFloat(v)}; },
        [](double v) { return FloatToHalf(static_cast<float>(v)); }, to);
  } else {
    MACE_ASSIGN_OR_RETURN(float *to,
                          AllocateForm<float>(filter, elements, bytes));
    Transform<float, kPoints>(
        filter, g, [](float v) { return double{v}; },
        [](double v) { return static_cast<float>(v); }, to);
  }
  return MaceStatus();
}

MaceStatus MakeFilter2(const Tensor &filter, MappedMemory *bytes) {
  return MakeFilter(filter, kFilter2, bytes);
}

MaceStatus MakeFilter4(const Tensor &filter, MappedMemory *bytes) {
  return MakeFilter(filter, kFilter4, bytes);
}

constexpr ConstantForm kForm2 = {"winograd2", MakeFilter2};
constexpr ConstantForm kForm4 = {"winograd4", MakeFilter4};

}  // namespace

WinogradTiles ChooseWinograd(const GpuTraits &gpu,
                             int most,
                             const GpuDims &in,
                             const GpuDims &out) {
  const bool adreno = gpu.family == GpuFamily::kAdreno;
  const int64_t blocks = adreno ? kLeastBlocksAdreno : kLeastBlocks;
  const int64_t least_tiles = adreno ? kLeastTilesAdreno : kLeastTiles;
  if (in.c % 4 != 0 || in.blocks() < blocks || out.blocks() < blocks) return {};
  for (int outputs : {4, 2}) {
    if (outputs > most) continue;
    WinogradTiles tiles;
    tiles.outputs = outputs;
    tiles.rows_of_image = DivideUp(out.h, outputs);
    tiles.rows = out.n * tiles.rows_of_image;
    tiles.columns = DivideUp(out.w, outputs);
    tiles.in_float = outputs == 4 || !gpu.half_storage;
    const int64_t count = tiles.rows * tiles.columns;
    const int64_t bytes = tiles.points() * count * 4 *
                          (in.blocks() + out.blocks()) *
                          (tiles.in_float ? 4 : 2);
    if (count >= least_tiles && bytes <= kMostScratchBytes) return tiles;
  }
  return {};
}

const ConstantForm &WinogradFilter(int outputs) {
  return outputs == 2 ? kForm2 : kForm4;
}

}  // namespace mace
