// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/products.h"

namespace mace::hexagon {
namespace {

constexpr int kWordBytes = 4;

}  // namespace

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
