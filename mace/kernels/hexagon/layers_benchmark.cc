// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: layers_benchmark LAYER ROUNDS THREADS
//
// Computes a layer of MobileNet v1 of 224 x 224 pixels, or of another network,
// so often, as an instruction of a program, with so many threads. The emulator
// counts the packets (benchmarks/hexagon); the difference of two runs is what a
// round takes.

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/executor/workers.h"
#include "mace/kernels/hexagon/packing.h"
#include "mace/kernels/hexagon/platform/emulated.h"

namespace mace::hexagon {
namespace {

struct Layer {
  bool depthwise;
  int side;  // of the result
  int filter;
  int stride;
  int channels;  // of a pixel of the image, in bytes
  int outputs;
};

constexpr Layer kLayers[] = {
    {false, 112, 3, 2, 4, 32},
    {true, 112, 3, 1, 32, 32},
    {false, 112, 1, 1, 32, 64},
    {true, 56, 3, 2, 64, 64},
    {false, 56, 1, 1, 64, 128},
    {true, 56, 3, 1, 128, 128},
    {false, 56, 1, 1, 128, 128},
    {true, 28, 3, 2, 128, 128},
    {false, 28, 1, 1, 128, 256},
    {true, 28, 3, 1, 256, 256},
    {false, 28, 1, 1, 256, 256},
    {true, 14, 3, 2, 256, 256},
    {false, 14, 1, 1, 256, 512},
    {true, 14, 3, 1, 512, 512},
    {false, 14, 1, 1, 512, 512},
    {true, 7, 3, 2, 512, 512},
    {false, 7, 1, 1, 512, 1024},
    {true, 7, 3, 1, 1024, 1024},
    {false, 7, 1, 1, 1024, 1024},
    {false, 1, 1, 1, 1024, 1024},
    // Of other networks.
    {false, 56, 3, 1, 64, 64},
    {false, 14, 3, 1, 256, 256},
    {false, 112, 1, 1, 16, 96},
    {true, 56, 3, 2, 96, 96},
    {false, 56, 1, 1, 24, 144},
    {true, 56, 3, 1, 144, 144},
    {false, 56, 1, 1, 144, 24},
    {false, 28, 1, 1, 40, 240},
    {true, 28, 5, 1, 240, 240},
    {true, 28, 5, 2, 72, 72},
    {false, 14, 1, 1, 384, 96},
    {false, 14, 1, 1, 96, 576},
    {false, 1, 1, 1, 1280, 1000},
};
constexpr int kLayerCount = sizeof(kLayers) / sizeof(kLayers[0]);

constexpr int kMostChannels = 1280;
constexpr int kPadding = 2;  // columns

struct Buffers {
  alignas(kVectorBytes) int8_t image[5 << 20];
  alignas(kVectorBytes) int8_t result[3 << 19];
  alignas(kVectorBytes) uint8_t weights[kMostChannels * kMostChannels];
  alignas(kVectorBytes) int32_t bias[kMostChannels];
  alignas(kVectorBytes) int32_t mantissa[kMostChannels];
  alignas(kVectorBytes) int32_t shift[kMostChannels];
  alignas(kVectorBytes) int32_t factor[kMostChannels];
};

Buffers g_buffers;

uint32_t Next() {
  static uint64_t state = 5;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(state >> 33);
}

// In the constants, which begin with the weights.
uint32_t OffsetOf(const int32_t *constants) {
  return static_cast<uint32_t>(reinterpret_cast<const uint8_t *>(constants) -
                               g_buffers.weights);
}

// False if the sums do not fit: a fault of this file.
bool Fill(const Layer &layer, ResultParameters *results) {
  Buffers &b = g_buffers;
  const int products =
      layer.filter * layer.filter * (layer.depthwise ? 1 : layer.channels);
  // Sums spread like the root of their number.
  float spread = 1;
  while (spread * spread < static_cast<float>(products)) spread *= 2;
  int left = 0;
  const auto most = static_cast<uint32_t>(products) * 128 * 30;
  while ((most >> (30 - left - 1)) == 0) ++left;
  for (int8_t &x : b.image) x = static_cast<int8_t>(Next());
  for (uint8_t &w : b.weights) {
    w = static_cast<uint8_t>(kWeightOffset + static_cast<int>(Next() % 101) -
                             50);
  }
  for (int c = 0; c < kMostChannels; ++c) {
    const float m =
        (1 + static_cast<float>(Next() % 1000) * 0.001f) * 0.5f / (spread * 30);
    if (!SplitMultiplier(m, &b.mantissa[c], &b.shift[c])) return false;
    if (!FastFactor(m, most, left, &b.factor[c])) return false;
  }
  *results = {OffsetOf(b.bias),
              OffsetOf(b.mantissa),
              OffsetOf(b.shift),
              OffsetOf(b.factor),
              left,
              1,
              -128,
              127};
  return true;
}

int Steps(int bytes) { return (bytes + kStepBytes - 1) / kStepBytes; }

TensorPlace Square(Area area, int side, int channels, int row_bytes) {
  TensorPlace place = {};
  place.area = static_cast<uint32_t>(area);
  place.element_bytes = 1;
  place.batch = 1;
  place.height = place.width = side;
  place.channels = place.pixel_bytes = channels;
  place.row_bytes = row_bytes;
  place.image_bytes = side * row_bytes;
  return place;
}

// False if the instruction is refused: a fault of this file.
bool Run(const Layer &layer,
         const ResultParameters &results,
         const ProgramCall &call) {
  const int side = (layer.side - 1) * layer.stride + layer.filter;
  // Between rows of the result lies what the next convolution reads as padding.
  const TensorPlace tensors[] = {
      Square(Area::kArena, side, layer.channels,
             Steps(side * layer.channels) * kStepBytes),
      Square(Area::kBorder, layer.side, layer.outputs,
             (layer.side + kPadding) * layer.outputs)};
  const Context context(call, tensors, 2, false);
  const WindowParameters window = {
      layer.filter, layer.filter, layer.stride, layer.stride, 1, 1, 0, 0};
  return layer.depthwise
             ? ConvolveDepthwise(context, {0, 1, window, 0, results})
             : Convolve(context, {0, 1, window, 0, results});
}

ProgramCall MakeCall(uint32_t threads) {
  Buffers &b = g_buffers;
  ProgramCall call;
  call.areas[static_cast<uint32_t>(Area::kArena)] = {
      reinterpret_cast<uint8_t *>(b.image), sizeof(b.image)};
  call.areas[static_cast<uint32_t>(Area::kBorder)] = {
      reinterpret_cast<uint8_t *>(b.result), sizeof(b.result)};
  call.areas[static_cast<uint32_t>(Area::kConstants)] = {
      b.weights,
      static_cast<uint32_t>(sizeof(b) - sizeof(b.image) - sizeof(b.result))};
  call.threads = StartWorkers(threads);
  if (call.threads > 1) call.divide = DivideWork;
  return call;
}

int Number(const char *text) {
  int number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    number = number * 10 + *text - '0';
  return number;
}

}  // namespace
}  // namespace mace::hexagon

int main(int count, char **arguments) {
  using namespace mace::hexagon;  // NOLINT(google-build-using-namespace)
  if (count != 4) return 2;
  const int layer = Number(arguments[1]);
  if (layer >= kLayerCount) return 3;
  ResultParameters results;
  if (!Fill(kLayers[layer], &results)) return 4;
  const int threads = Number(arguments[3]);
  const ProgramCall call = MakeCall(static_cast<uint32_t>(threads));
  if (call.threads != threads) return 5;
  for (int i = 0; i < Number(arguments[2]); ++i) {
    if (!Run(kLayers[layer], results, call)) return 6;
  }
  return 0;
}
