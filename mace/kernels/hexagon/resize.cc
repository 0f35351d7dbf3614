// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/resize.h"

namespace mace::hexagon {
namespace {

// In both halves of a word.
int32_t Twice(int32_t weight) {
  return static_cast<int32_t>(static_cast<uint32_t>(weight) * 0x10001u);
}

// The weighted sums of two pixels, with 128 added to each byte.
struct Blend {
  Pair even;
  Pair odd;
};

__attribute__((always_inline)) inline Blend BlendPixels(const int8_t *a,
                                                        int32_t a_weights,
                                                        const int8_t *b,
                                                        int32_t b_weights) {
  const Pair x = Q6_Wuh_vzxt_Vub(Flipped(LoadUnaligned(a)));
  const Pair y = Q6_Wuh_vzxt_Vub(Flipped(LoadUnaligned(b)));
  Blend blend;
  blend.even = Q6_Ww_vmpy_VhRh(Q6_V_lo_W(x), a_weights);
  blend.odd = Q6_Ww_vmpy_VhRh(Q6_V_hi_W(x), a_weights);
  blend.even = Q6_Ww_vmpyacc_WwVhRh(blend.even, Q6_V_lo_W(y), b_weights);
  blend.odd = Q6_Ww_vmpyacc_WwVhRh(blend.odd, Q6_V_hi_W(y), b_weights);
  return blend;
}

}  // namespace

void ResizeRow(const Resize &r,
               const ResizeRows &rows,
               const ResizeTap *columns,
               int pixels,
               int8_t *y) {
  constexpr uint32_t kMost = 255u << (2 * kResizeBits);
  const ScaledSums scaled(r.multiplier, kMost, r.range);
  const Vector offset =
      Words((r.x_zero + kFlipOffset) * (1 << (2 * kResizeBits)));
  const int32_t top = Twice(rows.first_weight);
  const int32_t bottom = Twice(rows.second_weight);
  for (int p = 0; p < pixels; ++p, y += r.pixel_bytes) {
    const ResizeTap &column = columns[p];
    const int32_t left = Twice(column.first_weight);
    const int32_t right = Twice(column.second_weight);
    ForVectors(r.bytes, y, [&](int i) {
      const Blend a = BlendPixels(rows.first + column.first + i, left,
                                  rows.first + column.second + i, right);
      const Blend b = BlendPixels(rows.second + column.first + i, left,
                                  rows.second + column.second + i, right);
      const auto sum = [&](Vector of_a, Vector of_b) {
        const Vector words =
            Q6_Vw_vmpyiacc_VwVwRh(Q6_Vw_vmpyi_VwRh(of_a, top), of_b, bottom);
        return Q6_Vw_vsub_VwVw(words, offset);
      };
      const SpreadWords sums = {sum(Q6_V_lo_W(a.even), Q6_V_lo_W(b.even)),
                                sum(Q6_V_lo_W(a.odd), Q6_V_lo_W(b.odd)),
                                sum(Q6_V_hi_W(a.even), Q6_V_hi_W(b.even)),
                                sum(Q6_V_hi_W(a.odd), Q6_V_hi_W(b.odd))};
      return scaled.ToBytesInOrder(sums);
    });
  }
}

}  // namespace mace::hexagon
