// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/products.h"

namespace mace::hexagon {
namespace {

using Function = void (*)(const int8_t *const *x,
                          const Window &window,
                          const Vector *weights,
                          Vector *sums);

template <int kPixels>
constexpr Function kOfGroups[] = {
    AddProducts<kPixels, 1>, AddProducts<kPixels, 2>, AddProducts<kPixels, 3>,
    AddProducts<kPixels, 4>};

// By the number of pixels, less one.
constexpr const Function *kFunctions[] = {kOfGroups<1>, kOfGroups<2>,
                                          kOfGroups<3>, kOfGroups<4>};

constexpr int kWordBytes = 4;

}  // namespace

void AddTile(int pixels,
             int groups,
             const int8_t *const *x,
             const Window &window,
             const Vector *weights,
             Vector *sums) {
  kFunctions[pixels - 1][groups - 1](x, window, weights, sums);
}

void PackWeights(const int8_t *filters,
                 int channels,
                 int groups,
                 int run_bytes,
                 const Window &window,
                 uint8_t *packed) {
  for (int run = 0; run < window.runs; ++run) {
    for (int word = 0; word < 2 * window.run_steps; ++word) {
      for (int channel = 0; channel < groups * kVectorWords; ++channel) {
        for (int i = 0; i < kWordBytes; ++i) {
          const int byte = word * kWordBytes + i;
          uint8_t weight = kWeightOffset;
          if (channel < channels && byte < run_bytes) {
            const int8_t w =
                filters[(channel * window.runs + run) * run_bytes + byte];
            weight = static_cast<uint8_t>(w + kWeightOffset);
          }
          *packed++ = weight;
        }
      }
    }
  }
}

}  // namespace mace::hexagon
