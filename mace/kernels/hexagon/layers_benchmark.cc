// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: layers_benchmark DEPTHWISE SIDE FILTER STRIDE CHANNELS OUTPUTS ROUNDS
//            [THREADS]
//
// Computes a layer so often, as an instruction of a program, with one thread or
// several, and prints the packets that it takes (benchmarks/hexagon): those of
// the calling thread, which has the largest part. With 0 threads, it calls the
// kernel alone, without an instruction, which no depthwise layer does. The
// numbers are those of Layer.

#include "mace/kernels/hexagon/benchmark_program.h"
#include "mace/kernels/hexagon/convolution.h"
#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/executor/workers.h"
#include "mace/kernels/hexagon/packing.h"

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

// Of the image.
int SideOf(const Layer &layer) {
  return (layer.side - 1) * layer.stride + layer.filter;
}
int RowBytes(const Layer &layer) {
  return Steps(SideOf(layer) * layer.channels) * kStepBytes;
}
// Between rows of the result lies what the next convolution reads as padding.
int ResultRowBytes(const Layer &layer) {
  return (layer.side + kPadding) * layer.outputs;
}
// Of 32 channels of the result.
int GroupsOf(const Layer &layer) {
  return (layer.outputs + kVectorWords - 1) / kVectorWords;
}

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
  const TensorPlace tensors[] = {
      Square(Area::kArena, SideOf(layer), layer.channels, RowBytes(layer)),
      Square(Area::kBorder, layer.side, layer.outputs, ResultRowBytes(layer))};
  const Context context(call, tensors, 2, false);
  const WindowParameters window = {
      layer.filter, layer.filter, layer.stride, layer.stride, 1, 1, 0, 0};
  return layer.depthwise
             ? ConvolveDepthwise(context, {0, 1, window, 0, results})
             : Convolve(context, {0, 1, window, 0, results});
}

// What the instruction of a convolution calls.
void RunKernel(const Layer &layer, const ResultParameters &p) {
  Buffers &b = g_buffers;
  const int row = RowBytes(layer);
  const Convolution convolution = {
      {layer.filter, row, Steps(layer.filter * layer.channels)},
      layer.stride * layer.channels,
      GroupsOf(layer),
      layer.outputs,
      b.weights,
      {b.bias, b.mantissa, b.shift, b.factor, p.left, p.is_float != 0, 0,
       static_cast<int8_t>(p.low), static_cast<int8_t>(p.high)}};
  const Rows rows = {layer.side, layer.side, layer.stride * row,
                     ResultRowBytes(layer)};
  ConvolveRows(convolution, rows, b.image, b.result);
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

bool HasRoom(const Layer &layer) {
  const int run = Steps(layer.filter * layer.channels) * kStepBytes;
  const int weights = layer.filter * run * GroupsOf(layer) *
                      (layer.depthwise ? 4 : kVectorWords);
  return layer.outputs <= kMostChannels &&
         SideOf(layer) * RowBytes(layer) + kSlackBytes <=
             static_cast<int>(sizeof(Buffers::image)) &&
         layer.side * ResultRowBytes(layer) <=
             static_cast<int>(sizeof(Buffers::result)) &&
         weights <= static_cast<int>(sizeof(Buffers::weights));
}

}  // namespace
}  // namespace mace::hexagon

int main(int count, char **arguments) {
  using namespace mace::hexagon;
  constexpr int kNumbers = 7;
  if (count != kNumbers + 1 && count != kNumbers + 2) return 2;
  int n[kNumbers];
  for (int i = 0; i < kNumbers; ++i) n[i] = Number(arguments[i + 1]);
  const Layer layer = {n[0] != 0, n[1], n[2], n[3], n[4], n[5]};
  if (!HasRoom(layer)) return 3;
  ResultParameters results;
  if (!Fill(layer, &results)) return 4;
  const int threads =
      count == kNumbers + 1 ? 1 : Number(arguments[kNumbers + 1]);
  const int rounds = n[kNumbers - 1];
  if (threads == 0) {
    if (layer.depthwise) return 2;
    RunRounds(rounds, [&] { RunKernel(layer, results); });
    return 0;
  }
  const ProgramCall call = MakeCall(static_cast<uint32_t>(threads));
  if (call.threads != threads) return 5;
  bool ran = true;
  RunRounds(rounds, [&] { ran = Run(layer, results, call) && ran; });
  if (!ran) return 6;
  return 0;
}
