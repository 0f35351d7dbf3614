// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of products of signed bytes x, which lie in memory as an image has them,
// and weights of 32 output channels. `vrmpy` multiplies the four bytes of each
// word of a vector by four bytes of a scalar register: two of them in a packet
// are all that the processor can do. It takes bytes of the vector as unsigned
// and those of the register as signed, so that the vector has the weights, with
// 128 added:
//
//   sum of x * (w + 128) = sum of x * w + 128 * (sum of x)
//
// The second term is the same for all channels, and where sums begin, it is
// subtracted.

#ifndef MACE_KERNELS_HEXAGON_PRODUCTS_H_
#define MACE_KERNELS_HEXAGON_PRODUCTS_H_

#include "mace/kernels/hexagon/hvx.h"
#include "mace/kernels/hexagon/packing.h"

namespace mace::hexagon {

// A tile has 4 pixels and up to 4 vectors of channels, or 8 pixels and up to 2:
// 16 sums are half of the registers, and no loop has more loads than packets.
constexpr int TilePixels(int groups) { return groups > 2 ? 4 : 8; }
constexpr int kMostTilePixels = 8;
constexpr int kTileGroups = 4;
// Adds the products to `sums`, [pixels][groups]. `x` are the first bytes of the
// pixels' windows, multiples of 8.
template <int kPixels, int kGroups>
__attribute__((always_inline)) inline void AddProducts(
    const int8_t *const *x,
    const Window &window,
    const Vector *weights,
    Vector (*sums)[kGroups]) {
  // Of which no address is known, so that they stay in registers.
  Vector acc[kPixels][kGroups];
  for (int p = 0; p < kPixels; ++p) {
    for (int g = 0; g < kGroups; ++g) acc[p][g] = sums[p][g];
  }
  // One loop over the steps of all runs, which the compiler overlaps.
  const int skip = window.run_stride - (window.run_steps - 1) * kStepBytes;
  int offset = 0;
  int in_run = window.run_steps;
  for (int step = window.runs * window.run_steps; step > 0; --step) {
    int64_t eight[kPixels];
    for (int p = 0; p < kPixels; ++p) {
      eight[p] = *reinterpret_cast<const int64_t *>(x[p] + offset);
    }
    --in_run;
    offset += in_run == 0 ? skip : kStepBytes;
    in_run = in_run == 0 ? window.run_steps : in_run;
    Vector low[kGroups];
    Vector high[kGroups];
    for (int g = 0; g < kGroups; ++g) {
      low[g] = weights[g];
      high[g] = weights[kGroups + g];
    }
    weights += 2 * kGroups;
    for (int g = 0; g < kGroups; ++g) {
      for (int p = 0; p < kPixels; ++p) {
        acc[p][g] = Q6_Vw_vrmpyacc_VwVubRb(acc[p][g], low[g],
                                           static_cast<int32_t>(eight[p]));
      }
    }
    for (int g = 0; g < kGroups; ++g) {
      for (int p = 0; p < kPixels; ++p) {
        acc[p][g] = Q6_Vw_vrmpyacc_VwVubRb(
            acc[p][g], high[g], static_cast<int32_t>(eight[p] >> 32));
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    for (int g = 0; g < kGroups; ++g) sums[p][g] = acc[p][g];
  }
}

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_PRODUCTS_H_
