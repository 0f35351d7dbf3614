// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums that have one multiplier in common to bytes, by the formula of
// requantize.h.

#ifndef MACE_KERNELS_HEXAGON_SCALED_H_
#define MACE_KERNELS_HEXAGON_SCALED_H_

#include "mace/kernels/hexagon/requantize.h"

namespace mace::hexagon {

// The integers of a result.
struct ByteRange {
  int8_t zero;  // zero point
  int8_t low;   // limits
  int8_t high;
};

// The words of 128 bytes: vector i has those of bytes i, i + 4, i + 8, ...
constexpr int kWordsOfByte = 4;
using SpreadWords = Vector[kWordsOfByte];

inline bool IsMultiplier(float number) {
  int32_t mantissa = 0;
  int32_t shift = 0;
  return SplitMultiplier(number, &mantissa, &shift);
}

class ScaledSums {
 public:
  // IsMultiplier(multiplier); no sum is larger than `most`.
  ScaledSums(float multiplier, uint32_t most, const ByteRange &range)
      : range_(range) {
    int32_t mantissa = 0;
    SplitMultiplier(multiplier, &mantissa, &shift_);
    mantissa_ = mantissa;
    is_float_ = most <= 1u << kFloatBits;
    // The least with which a factor keeps all bits of the multiplier.
    left_ = shift_ < kFactorPoint ? kFactorPoint - shift_ : 0;
    is_fast_ =
        left_ < kMostLeft && FastFactor(multiplier, most, left_, &factor_);
  }

  // The bytes of sums in the order of the vectors: those of sums[0] first.
  Vector ToBytes(const SpreadWords &sums) const {
    // Vectors 0 and 2 alternate, and so do 1 and 3.
    return Q6_Vb_vdeal_Vb(Clamped(
        [](Vector even, Vector odd) { return Q6_Vb_vpack_VhVh_sat(odd, even); },
        sums));
  }

  // Those of byte 0, 1, 2, ...
  Vector ToBytesInOrder(const SpreadWords &sums) const {
    return Clamped(
        [](Vector even, Vector odd) {
          return Q6_Vb_vasr_VhVhR_sat(odd, even, 0);
        },
        sums);
  }

 private:
  // 2^(47 - left) = 2^(shift + kSpareBits) if left + shift is this number.
  static constexpr int kFactorPoint = 40;
  static constexpr int kMostLeft = 30;

  // Halfwords of vectors 0 and 2, which alternate, and of 1 and 3.
  struct Halves {
    Vector even;
    Vector odd;
  };

  __attribute__((noinline)) Halves Exact(const SpreadWords &sums) const {
    const Multipliers m = {Words(mantissa_), Words(shift_)};
    Vector whole[kWordsOfByte];
    for (int i = 0; i < kWordsOfByte; ++i) {
      whole[i] = RoundedProduct(sums[i], m, is_float_);
    }
    return {Q6_Vh_vsat_VwVw(whole[2], whole[0]),
            Q6_Vh_vsat_VwVw(whole[3], whole[1])};
  }

  __attribute__((always_inline)) Halves Find(const SpreadWords &sums) const {
    if (!is_fast_) return Exact(sums);
    Vector t[kWordsOfByte];
    const Vector factor = Words(factor_);
    for (int i = 0; i < kWordsOfByte; ++i) {
      t[i] = FastProduct(sums[i], factor, left_);
    }
    const Vector close =
        Q6_Vh_vmax_VhVh(Closeness(t[0], t[2]), Closeness(t[1], t[3]));
    if (__builtin_expect(IsAnyAbove(close, kCertain), 0)) {
      return Exact(sums);
    }
    return {Rounded(t[0], t[2]), Rounded(t[1], t[3])};
  }

  // pack(even, odd) makes bytes of halfwords, with saturation.
  template <typename Pack>
  __attribute__((always_inline)) Vector Clamped(const Pack &pack,
                                                const SpreadWords &sums) const {
    const Vector zero = Q6_Vh_vsplat_R(range_.zero);
    const Halves halves = Find(sums);
    const Vector bytes = pack(Q6_Vh_vadd_VhVh_sat(halves.even, zero),
                              Q6_Vh_vadd_VhVh_sat(halves.odd, zero));
    return Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, Q6_Vb_vsplat_R(range_.low)),
                           Q6_Vb_vsplat_R(range_.high));
  }

  ByteRange range_;
  int32_t mantissa_ = 0;
  int32_t shift_ = 0;
  int32_t factor_ = 0;
  int left_ = 0;
  bool is_fast_ = false;
  bool is_float_ = false;
};

// One sum.
inline int8_t ScaledByte(int32_t sum,
                         float multiplier,
                         const ByteRange &range) {
  // Of the scalar unit: to the nearest, ties to even, within int32.
  const float product = static_cast<float>(sum) * multiplier;
  int32_t y = Q6_R_convert_sf2w_R(product);
  // Far from the limits of int32.
  constexpr int32_t kFar = 1 << 16;
  y = y < -kFar ? -kFar : y > kFar ? kFar : y;
  y += range.zero;
  y = y < range.low ? range.low : y > range.high ? range.high : y;
  return static_cast<int8_t>(y);
}

// 128 bytes, which differ from those of int8 in bit 7, as words.
inline void SpreadBytes(Vector bytes, SpreadWords *words) {
  const Pair halves = Q6_Wuh_vzxt_Vub(bytes);
  const Pair even = Q6_Wuw_vzxt_Vuh(Q6_V_lo_W(halves));
  const Pair odd = Q6_Wuw_vzxt_Vuh(Q6_V_hi_W(halves));
  (*words)[0] = Q6_V_lo_W(even);
  (*words)[1] = Q6_V_lo_W(odd);
  (*words)[2] = Q6_V_hi_W(even);
  (*words)[3] = Q6_V_hi_W(odd);
}

// Makes int8 of uint8, and the reverse.
constexpr int kFlip = 0x80;
constexpr int kFlipOffset = 128;
inline Vector Flipped(Vector bytes) {
  return Q6_V_vxor_VV(bytes, Q6_Vb_vsplat_R(kFlip));
}

// Calls compute(i), which returns the bytes from i on, for each vector of a run
// of `count` bytes, and stores them: two at a time, whose instructions share
// packets.
template <typename Compute>
__attribute__((always_inline)) inline void ForVectors(int count,
                                                      int8_t *y,
                                                      const Compute &compute) {
  int i = 0;
  for (; i + 2 * kVectorBytes <= count; i += 2 * kVectorBytes) {
    const Vector first = compute(i);
    const Vector second = compute(i + kVectorBytes);
    StoreUnaligned(first, y + i);
    StoreUnaligned(second, y + i + kVectorBytes);
  }
  if (i + kVectorBytes <= count) {
    StoreUnaligned(compute(i), y + i);
    i += kVectorBytes;
  }
  if (i < count) StoreFirst(compute(i), y + i, count - i);
}

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_SCALED_H_
