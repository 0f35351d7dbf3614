// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/results.h"

namespace mace::hexagon {

Vector ExactQuad(const Results &r, const Vector *sums, const int *groups) {
  const auto *mantissa = reinterpret_cast<const Vector *>(r.mantissa);
  const auto *shift = reinterpret_cast<const Vector *>(r.shift);
  Vector y[4];
  for (int i = 0; i < 4; ++i) {
    y[i] = RoundedProduct(sums[i], {mantissa[groups[i]], shift[groups[i]]},
                          r.is_float);
  }
  // Saturated halfwords that alternate.
  const Vector even = Q6_Vh_vsat_VwVw(y[2], y[0]);
  const Vector odd = Q6_Vh_vsat_VwVw(y[3], y[1]);
  return Packed(LimitsOf(r), even, odd);
}

void CorrectBytes(const Results &r,
                  int first_group,
                  int groups,
                  int vectors,
                  const Vector *sums,
                  const Vector *close,
                  Vector *bytes) {
  int group = 0;
  for (int v = 0; v < vectors; ++v) {
    int groups_of_four[4];
    for (int &g : groups_of_four) {
      g = first_group + group;
      group = group + 1 == groups ? 0 : group + 1;
    }
    if (close == nullptr || IsAnyAbove(close[v], kCertain)) {
      bytes[v] = ExactQuad(r, sums, groups_of_four);
    }
    sums += 4;
  }
}

void StorePixels(
    const int8_t *bytes, int stride, int pixels, int size, int8_t *const *to) {
  for (int p = 0; p < pixels; ++p) {
    const Vector pixel = LoadUnaligned(bytes + p * stride);
    if (size == kVectorBytes) {
      StoreUnaligned(pixel, to[p]);
    } else {
      StoreFirst(pixel, to[p], size);
    }
  }
}

}  // namespace mace::hexagon
