// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/eltwise.h"

namespace mace::hexagon {
namespace {

// What of the sums does not depend on the operands, modulo 2^32: operands have
// 128 added, so that they are unsigned.
struct Constants {
  Vector a;
  Vector b;
  Vector half;
};

uint32_t Offset(int8_t zero, int32_t factor) {
  return 0u - static_cast<uint32_t>(zero + kFlipOffset) *
                  static_cast<uint32_t>(factor);
}

// words = start + halves * factor, where the halves are those of the even bytes
// (pair.lo) and of the odd ones.
__attribute__((always_inline)) inline void AddProducts(Pair halves,
                                                       Vector factor,
                                                       SpreadWords *words) {
  const Vector even = Q6_V_lo_W(halves);
  const Vector odd = Q6_V_hi_W(halves);
  Vector *w = *words;
  w[0] = Q6_Vw_vmpyieacc_VwVwVuh(w[0], factor, even);
  w[1] = Q6_Vw_vmpyieacc_VwVwVuh(w[1], factor, odd);
  w[2] = Q6_Vw_vadd_VwVw(w[2], Q6_Vw_vmpyio_VwVh(factor, even));
  w[3] = Q6_Vw_vadd_VwVw(w[3], Q6_Vw_vmpyio_VwVh(factor, odd));
}

__attribute__((always_inline)) inline void SetWords(Vector value,
                                                    SpreadWords *words) {
  for (Vector &word : *words) word = value;
}

template <EltwiseMode kMode>
void WeightedRow(
    const Eltwise &e, const int8_t *a, const int8_t *b, int count, int8_t *y) {
  const uint32_t half = e.shift > 0 ? 1u << (e.shift - 1) : 0;
  const uint32_t a_offset = Offset(e.a_zero, e.a_factor) + half;
  const uint32_t b_offset = Offset(e.b_zero, e.b_factor);
  constexpr bool kIsSum = kMode == EltwiseMode::kSum;
  const Vector a_start =
      Words(static_cast<int32_t>(kIsSum ? a_offset + b_offset : a_offset));
  const Vector b_start = Words(static_cast<int32_t>(b_offset + half));
  const Vector a_factor = Words(e.a_factor);
  const Vector b_factor = Words(e.b_factor);
  const Vector zero = Q6_Vh_vsplat_R(e.range.zero);
  const Vector low = Q6_Vh_vsplat_R(e.range.low);
  const Vector high = Q6_Vh_vsplat_R(e.range.high);
  const auto limited = [&](Vector halves) {
    const Vector moved = Q6_Vh_vadd_VhVh_sat(halves, zero);
    return Q6_Vh_vmin_VhVh(Q6_Vh_vmax_VhVh(moved, low), high);
  };
  ForVectors(count, y, [&](int i) {
    const Pair xa = Q6_Wuh_vzxt_Vub(Flipped(LoadUnaligned(a + i)));
    const Pair xb = Q6_Wuh_vzxt_Vub(Flipped(LoadUnaligned(b + i)));
    SpreadWords t;
    SetWords(a_start, &t);
    AddProducts(xa, a_factor, &t);
    if constexpr (kIsSum) {
      AddProducts(xb, b_factor, &t);
    } else {
      SpreadWords u;
      SetWords(b_start, &u);
      AddProducts(xb, b_factor, &u);
      for (int w = 0; w < kWordsOfByte; ++w) {
        t[w] = kMode == EltwiseMode::kMax ? Q6_Vw_vmax_VwVw(t[w], u[w])
                                          : Q6_Vw_vmin_VwVw(t[w], u[w]);
      }
    }
    for (Vector &word : t) word = Q6_Vw_vasr_VwR(word, e.shift);
    const Vector even = limited(Q6_Vh_vsat_VwVw(t[2], t[0]));
    const Vector odd = limited(Q6_Vh_vsat_VwVw(t[3], t[1]));
    return Q6_Vb_vshuffe_VbVb(odd, even);
  });
}

// Sums in fewer instructions. A factor is f1 * 2^7 + f0 with f0 from 0 to 127,
// and so are the constants: with those of the low parts, halfwords have
//
//   t0 = a * f0a + b * f0b + c0                    less than 2^16
//   floor(t / 2^shift) = floor((a * f1a + b * f1b + c1 + floor(t0 / 2^7))
//                              / 2^(shift - 7))
//
// The zero point of the result is one of the constants.
constexpr int kLowBits = 7;
constexpr int kMostHighShift = 15;  // of shifts that saturate

bool HasFastSums(const Eltwise &e) {
  return e.shift >= kLowBits && e.shift <= kLowBits + kMostHighShift;
}

int32_t HighPart(int32_t value) { return value >> kLowBits; }
int32_t LowPart(int32_t value) { return value & ((1 << kLowBits) - 1); }
// In both halves of a word.
int32_t Twice(int32_t half) {
  return static_cast<int32_t>(static_cast<uint32_t>(half & UINT16_MAX) *
                              0x10001u);
}

void SumRow(
    const Eltwise &e, const int8_t *a, const int8_t *b, int count, int8_t *y) {
  // In 64 bits, as the zero point adds to what fits into 32.
  const int64_t start = (int64_t{1} << (e.shift - 1)) +
                        (int64_t{e.range.zero} << e.shift) -
                        int64_t{e.a_zero + kFlipOffset} * e.a_factor -
                        int64_t{e.b_zero + kFlipOffset} * e.b_factor;
  const Vector high_start = Words(static_cast<int32_t>(start >> kLowBits));
  const Vector low_start = Q6_Vh_vsplat_R(LowPart(static_cast<int32_t>(start)));
  const int32_t low_bytes = LowPart(e.a_factor) | (LowPart(e.b_factor) << 8);
  const int32_t low_factors = Twice(low_bytes);
  const int32_t a_factor = Twice(HighPart(e.a_factor));
  const int32_t b_factor = Twice(HighPart(e.b_factor));
  const int shift = e.shift - kLowBits;
  const Vector low = Q6_Vb_vsplat_R(e.range.low);
  const Vector high = Q6_Vb_vsplat_R(e.range.high);
  const Pair low_starts = Q6_W_vcombine_VV(low_start, low_start);
  const Pair high_starts = Q6_W_vcombine_VV(high_start, high_start);
  // Halfwords of every second byte.
  const auto half = [&](Vector xa, Vector xb, Vector t0) {
    Pair t = Q6_Ww_vmpyacc_WwVhRh(high_starts, xa, a_factor);
    t = Q6_Ww_vmpyacc_WwVhRh(t, xb, b_factor);
    t = Q6_Ww_vaddacc_WwVhVh(t, Q6_Vuh_vlsr_VuhR(t0, kLowBits), Q6_V_vzero());
    return Q6_Vh_vasr_VwVwR_sat(Q6_V_hi_W(t), Q6_V_lo_W(t), shift);
  };
  ForVectors(count, y, [&](int i) {
    const Vector bytes_a = Flipped(LoadUnaligned(a + i));
    const Vector bytes_b = Flipped(LoadUnaligned(b + i));
    const Pair t0 = Q6_Wh_vmpaacc_WhWubRb(
        low_starts, Q6_W_vcombine_VV(bytes_b, bytes_a), low_factors);
    const Pair xa = Q6_Wuh_vzxt_Vub(bytes_a);
    const Pair xb = Q6_Wuh_vzxt_Vub(bytes_b);
    const Vector even = half(Q6_V_lo_W(xa), Q6_V_lo_W(xb), Q6_V_lo_W(t0));
    const Vector odd = half(Q6_V_hi_W(xa), Q6_V_hi_W(xb), Q6_V_hi_W(t0));
    const Vector bytes = Q6_Vb_vasr_VhVhR_sat(odd, even, 0);
    return Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, low), high);
  });
}

void ProductRow(
    const Eltwise &e, const int8_t *a, const int8_t *b, int count, int8_t *y) {
  constexpr uint32_t kMost = 255 * 255;
  const ScaledSums sums(e.multiplier, kMost, e.range);
  const Vector a_zero = Q6_Vb_vsplat_R(e.a_zero + kFlipOffset);
  const Vector b_zero = Q6_Vb_vsplat_R(e.b_zero + kFlipOffset);
  ForVectors(count, y, [&](int i) {
    const Pair xa = Q6_Wh_vsub_VubVub(Flipped(LoadUnaligned(a + i)), a_zero);
    const Pair xb = Q6_Wh_vsub_VubVub(Flipped(LoadUnaligned(b + i)), b_zero);
    const Pair even = Q6_Ww_vmpy_VhVh(Q6_V_lo_W(xa), Q6_V_lo_W(xb));
    const Pair odd = Q6_Ww_vmpy_VhVh(Q6_V_hi_W(xa), Q6_V_hi_W(xb));
    const SpreadWords t = {Q6_V_lo_W(even), Q6_V_lo_W(odd), Q6_V_hi_W(even),
                           Q6_V_hi_W(odd)};
    return sums.ToBytesInOrder(t);
  });
}

}  // namespace

void EltwiseRow(
    const Eltwise &e, const int8_t *a, const int8_t *b, int count, int8_t *y) {
  switch (e.mode) {
    case EltwiseMode::kSum:
      if (HasFastSums(e)) {
        SumRow(e, a, b, count, y);
      } else {
        WeightedRow<EltwiseMode::kSum>(e, a, b, count, y);
      }
      break;
    case EltwiseMode::kMax:
      WeightedRow<EltwiseMode::kMax>(e, a, b, count, y);
      break;
    case EltwiseMode::kMin:
      WeightedRow<EltwiseMode::kMin>(e, a, b, count, y);
      break;
    case EltwiseMode::kProduct:
      ProductRow(e, a, b, count, y);
      break;
  }
}

}  // namespace mace::hexagon
