// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Usage: peer SIDE FILTER STRIDE CHANNELS OUTPUTS ROUNDS
//
// Computes a convolution so often, and prints the packets, with a kernel of
// XNNPACK, whose object is linked (peer.py): a product of matrices where the
// filter has one tap, else one that finds its windows by pointers. Those, and
// the weights, are prepared before the rounds. Some results are checked: status
// 5 if one is wrong.
//
// Compiled with
//   MACE_PEER           the kernel's name
//   MACE_PEER_PIXELS    of its tile
//   MACE_PEER_CHANNELS  of its tile
//   MACE_PEER_IS_PLAIN  1: a product of matrices
//   MACE_PEER_IS_CHECKED  0 where the emulator does not know its instructions

#include "mace/kernels/hexagon/benchmark_program.h"
#include "mace/kernels/hexagon/packing.h"

#ifndef MACE_PEER  // where nothing is linked
#define MACE_PEER Peer
#define MACE_PEER_PIXELS 1
#define MACE_PEER_CHANNELS 32
#define MACE_PEER_IS_PLAIN 1
#define MACE_PEER_IS_CHECKED 1
#endif

namespace {

constexpr int kPixels = MACE_PEER_PIXELS;
constexpr int kChannels = MACE_PEER_CHANNELS;
constexpr int kWord = 4;  // bytes that are multiplied together

// What the kernel reads of its parameters.
struct Parameters {
  int16_t zero;
  int8_t low;
  int8_t high;
};

}  // namespace

extern "C" {
#if MACE_PEER_IS_PLAIN
void MACE_PEER(size_t pixels,
               size_t outputs,
               size_t channels,
               const int8_t *image,
               size_t image_stride,
               const void *weights,
               int8_t *result,
               size_t pixel_stride,
               size_t tile_stride,
               const void *parameters);
#else
void MACE_PEER(size_t pixels,
               size_t outputs,
               size_t channels,
               size_t window_bytes,
               const int8_t **windows,
               const void *weights,
               int8_t *result,
               size_t pixel_stride,
               size_t tile_stride,
               size_t image_offset,
               const int8_t *zero,
               const void *parameters);
#endif
}

namespace {

struct Layer {
  int side;  // of the result
  int filter;
  int stride;
  int channels;
  int outputs;

  int image_side() const { return (side - 1) * stride + filter; }
  int taps() const { return filter * filter; }
  int pixels() const { return side * side; }
};

alignas(128) int8_t g_image[5 << 20];
alignas(128) int8_t g_result[3 << 19];
alignas(128) uint8_t g_weights[5 << 20];
const int8_t *g_windows[1 << 19];
const Parameters g_parameters = {0, -128, 127};

int RoundUp(int value, int unit) { return (value + unit - 1) / unit * unit; }

int8_t WeightAt(int output, int tap, int channel) {
  return static_cast<int8_t>((output * 7 + tap * 13 + channel * 5) % 101 - 50);
}
int32_t BiasOf(int output) { return output * 11 - 300; }
float ScaleOf(const Layer &layer) {
  return 1.0f / static_cast<float>(layer.taps() * layer.channels * 8);
}

// Tiles of outputs: biases, weights, scales. Where windows are found by
// pointers, as much room as for the biases follows these.
bool PackWeights(const Layer &layer) {
  const int words = RoundUp(layer.channels, kWord);
  const int tiles = RoundUp(layer.outputs, kChannels) / kChannels;
  const int rows = (MACE_PEER_IS_PLAIN ? 1 : 2) + 1;
  const int bytes = kChannels * (rows * 4 + layer.taps() * words);
  if (bytes * tiles > static_cast<int>(sizeof(g_weights))) return false;
  uint8_t *to = g_weights;
  const auto number = [&to](auto value) {
    static_assert(sizeof(value) == 4);
    __builtin_memcpy(to, &value, sizeof(value));
    to += sizeof(value);
  };
  for (int tile = 0; tile < tiles; ++tile) {
    const int first = tile * kChannels;
    for (int n = 0; n < kChannels; ++n) number(BiasOf(first + n));
    if (!MACE_PEER_IS_PLAIN) to += kChannels * 4;
    for (int tap = 0; tap < layer.taps(); ++tap) {
      for (int c = 0; c < words; c += kWord) {
        for (int n = 0; n < kChannels; ++n) {
          for (int i = c; i < c + kWord; ++i) {
            const bool is_there = i < layer.channels;
            *to++ = static_cast<uint8_t>(is_there ? WeightAt(first + n, tap, i)
                                                  : 0);
          }
        }
      }
    }
    for (int n = 0; n < kChannels; ++n) number(ScaleOf(layer));
  }
  return true;
}

const int8_t *WindowAt(const Layer &layer, int pixel, int tap) {
  const int y = pixel / layer.side * layer.stride + tap / layer.filter;
  const int x = pixel % layer.side * layer.stride + tap % layer.filter;
  return g_image + (y * layer.image_side() + x) * layer.channels;
}

bool FindWindows(const Layer &layer) {
  const int pixels = RoundUp(layer.pixels(), kPixels);
  if (pixels * layer.taps() >
      static_cast<int>(sizeof(g_windows) / sizeof(g_windows[0]))) {
    return false;
  }
  const int8_t **to = g_windows;
  for (int first = 0; first < pixels; first += kPixels) {
    for (int tap = 0; tap < layer.taps(); ++tap) {
      for (int p = first; p < first + kPixels; ++p) {
        const int last = layer.pixels() - 1;
        *to++ = WindowAt(layer, p < last ? p : last, tap);
      }
    }
  }
  return true;
}

void Run(const Layer &layer) {
  const auto outputs = static_cast<size_t>(layer.outputs);
  const auto channels = static_cast<size_t>(layer.channels);
  for (int first = 0; first < layer.pixels(); first += kPixels) {
    const int rest = layer.pixels() - first;
    const auto pixels = static_cast<size_t>(rest < kPixels ? rest : kPixels);
    int8_t *result = g_result + first * layer.outputs;
#if MACE_PEER_IS_PLAIN
    MACE_PEER(pixels, outputs, channels, g_image + first * layer.channels,
              channels, g_weights, result, outputs, kChannels, &g_parameters);
#else
    const auto taps = static_cast<size_t>(layer.taps());
    MACE_PEER(pixels, outputs, channels, taps * kPixels * sizeof(void *),
              g_windows + first * layer.taps(), g_weights, result, outputs,
              kChannels, 0, nullptr, &g_parameters);
#endif
  }
}

// Within 1, as roundings of a half may differ.
bool IsRight(const Layer &layer, int pixel, int output) {
  int32_t sum = BiasOf(output);
  for (int tap = 0; tap < layer.taps(); ++tap) {
    const int8_t *x = WindowAt(layer, pixel, tap);
    for (int c = 0; c < layer.channels; ++c) {
      sum += x[c] * WeightAt(output, tap, c);
    }
  }
  const auto wanted =
      static_cast<int>(static_cast<float>(sum) * ScaleOf(layer));
  const int limited = wanted < -128 ? -128 : wanted > 127 ? 127 : wanted;
  const int difference = g_result[pixel * layer.outputs + output] - limited;
  return difference >= -1 && difference <= 1;
}

bool AreSomeRight(const Layer &layer) {
  constexpr int kSteps = 13;
  for (int i = 0; i <= kSteps; ++i) {
    const int pixel = (layer.pixels() - 1) * i / kSteps;
    const int output = (layer.outputs - 1) * (kSteps - i) / kSteps;
    if (!IsRight(layer, pixel, output)) return false;
  }
  return true;
}

}  // namespace

int main(int count, char **arguments) {
  constexpr int kNumbers = 6;
  if (count != kNumbers + 1) return 2;
  int n[kNumbers];
  for (int i = 0; i < kNumbers; ++i) {
    n[i] = mace::hexagon::Number(arguments[i + 1]);
  }
  const Layer layer = {n[0], n[1], n[2], n[3], n[4]};
  const int image = layer.image_side() * layer.image_side() * layer.channels;
  if (image + mace::hexagon::kSlackBytes > static_cast<int>(sizeof(g_image)) ||
      layer.pixels() * layer.outputs > static_cast<int>(sizeof(g_result)) ||
      (MACE_PEER_IS_PLAIN && layer.filter * layer.stride != 1)) {
    return 3;
  }
  uint32_t state = 5;
  for (int i = 0; i < image; ++i) {
    state = state * 1664525u + 1013904223u;
    g_image[i] = static_cast<int8_t>(state >> 24);
  }
  if (!PackWeights(layer) || !FindWindows(layer)) return 4;
  const int rounds = n[kNumbers - 1];
  mace::hexagon::RunRounds(rounds, [&layer] { Run(layer); });
  const bool is_checked = MACE_PEER_IS_CHECKED && rounds > 0;
  return is_checked && !AreSomeRight(layer) ? 5 : 0;
}
