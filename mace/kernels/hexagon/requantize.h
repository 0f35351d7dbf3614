// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums to integers of 8 bits, by
//
//   y = clamp(round(float32(a) * m) + z)
//
// to the bit (docs/reference/quantization.md), with integers alone: HVX before
// v68 has no floats, and their rounding in later ones is not IEEE's. The float
// of a has 24 bits, and so has the product, which is rounded once more, to an
// integer, ties to even. The integer is the nearest one to the exact product,
// unless that is so close to a half that the float becomes the half itself;
// then it is the even one.
//
// m = M * 2^-s, with M of 24 bits. Results of 256 and above, which every zero
// point leaves out of range, need to be right only in being so.

#ifndef MACE_KERNELS_HEXAGON_REQUANTIZE_H_
#define MACE_KERNELS_HEXAGON_REQUANTIZE_H_

#include "mace/kernels/hexagon/hvx.h"

namespace mace::hexagon {

// The multipliers of 32 channels.
struct Multipliers {
  Vector mantissa;  // M * 2^7
  Vector shift;     // s
};

constexpr int kFloatBits = 24;
// Of a mantissa in a word, above its 24 bits: see SplitMultiplier.
constexpr int kSpareBits = 32 - 1 - kFloatBits;

// |a| as floats have it: to 24 bits, ties to even. `size` is |a|.
inline Vector RoundToFloat(Vector size) {
  // The bits that a float does not have.
  const Vector lost = Q6_Vw_vmax_VwVw(
      Q6_Vw_vsub_VwVw(Words(32 - kFloatBits), Q6_Vuw_vcl0_Vuw(size)),
      Q6_V_vzero());
  const Vector kept = Q6_Vw_vlsr_VwVw(size, lost);
  const Vector odd = Q6_V_vand_VV(kept, Words(1));
  // Half of the last bit, less one; no bits are lost: 0 - 1 + ..., which counts
  // only if they are.
  const Vector half =
      Q6_Vw_vlsr_VwVw(Q6_Vw_vasl_VwVw(Words(1), lost), Words(1));
  const Vector rounded = Q6_Vw_vadd_VwVw(
      size, Q6_Vw_vadd_VwVw(Q6_Vw_vsub_VwVw(half, Words(1)), odd));
  const Vector result = Q6_Vw_vasl_VwVw(Q6_Vw_vlsr_VwVw(rounded, lost), lost);
  return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(lost, Q6_V_vzero()), result, size);
}

// round(float32(a) * m); `is_float`: every |a| is at most 2^24.
inline Vector RoundedProduct(Vector a, const Multipliers &m, bool is_float) {
  Vector size = Q6_Vw_vabs_Vw(a);
  if (!is_float) size = RoundToFloat(size);
  const Vector zeros = Q6_Vuw_vcl0_Vuw(size);
  // The highest bit of a factor is its bit 30; |-2^31| is 2^31 already.
  const Vector left = Q6_Vw_vsub_VwVw(zeros, Words(1));
  const Vector factor =
      Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(Q6_V_vzero(), left), Words(1 << 30),
                    Q6_Vw_vasl_VwVw(size, left));
  Pair product = Q6_W_vmpye_VwVuh(factor, m.mantissa);
  product = Q6_W_vmpyoacc_WVwVh(product, factor, m.mantissa);
  const Vector high = Q6_V_hi_W(product);
  const Vector low = Q6_V_lo_W(product);
  // The product is high * 2^-point, and a little more.
  const Vector point = Q6_Vw_vmax_VwVw(
      Q6_Vw_vmin_VwVw(Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(m.shift, left),
                                      Words(kSpareBits - 32)),
                      Words(31)),
      Words(20));
  // Half of the last bit of a float: high has 29 or 30 bits.
  const Vector near = Q6_Vw_vadd_VwVw(
      Words(16), Q6_Vw_vasl_VwVw(Q6_Vw_vlsr_VwVw(high, Words(29)), Words(4)));
  const Vector whole = Q6_Vw_vlsr_VwVw(high, point);
  const Mask odd = Q6_Q_vcmp_eq_VwVw(Q6_V_vand_VV(whole, Words(1)), Words(1));
  const Vector above = Q6_V_vmux_QVV(Q6_Q_vcmp_eq_VwVw(low, Q6_V_vzero()),
                                     Words(-1), Q6_V_vzero());
  const Vector margin = Q6_V_vmux_QVV(odd, near, Q6_Vw_vsub_VwVw(above, near));
  const Vector half =
      Q6_Vw_vasl_VwVw(Words(1), Q6_Vw_vsub_VwVw(point, Words(1)));
  const Vector result = Q6_Vw_vlsr_VwVw(
      Q6_Vw_vadd_VwVw(Q6_Vw_vadd_VwVw(high, half), margin), point);
  return Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(Q6_V_vzero(), a),
                       Q6_Vw_vsub_VwVw(Q6_V_vzero(), result), result);
}

// Most results are not close to a half, and need less: the product with 16 bits
// of fraction. Sums are shifted to the left so far that no bit of a multiplier
// is lost.
//
//   t = floor(s * factor / 2^31),   s = a * 2^left,
//                                   factor = floor(f),  f = m * 2^(47 - left)
//
// With p = a * m * 2^16 = s * f / 2^31, the exact product in units of t:
//
//   |s| < 2^30 (see FastFactor) and 0 <= f - factor < 1,
//                                  so |s * factor / 2^31 - p| < 0.5
//   floor takes less than 1 away,  so p - 1.5 < t < p + 0.5
//   floats move p by less than 1 where a has more than 24 bits, and by at most
//   0.5 where the product is rounded, as |p| < 2^24 where the result is less
//   than 256:                      t - 2 < float < t + 3
//
// With h the nearest half, 2^15 and a multiple of 2^16: the float is on the
// same side of h as t if t <= h - 3 or t >= h + 2. So round(float32(a) * m) is
// t rounded, unless t is within 2 of h: doubtful. t = h - 2 may be wrong: the
// bound can't be less. It holds for one multiplier (scaled.h) as for one of
// each channel.
constexpr int kDoubt = 2;

// The t of a vector of sums.
inline Vector FastProduct(Vector a, Vector factor, int left) {
  const Vector s = Q6_Vw_vasl_VwR(a, left);
  return Q6_Vw_vmpyoacc_VwVwVh_s1_sat_shift(Q6_Vw_vmpye_VwVuh(s, factor), s,
                                            factor);
}

// Of two vectors of t: how close they are to a half, at most 2^15 - 1.
inline Vector Closeness(Vector t0, Vector t1) {
  return Q6_Vh_vabs_Vh_sat(Q6_Vh_vshuffe_VhVh(t1, t0));
}
// Where the closeness is above this one, the result is doubtful.
constexpr int kCertain = (1 << 15) - 1 - kDoubt;

// Whether any halfword is above `limit`.
inline bool IsAnyAbove(Vector halfwords, int limit) {
  const Mask mask = Q6_Q_vcmp_gt_VhVh(halfwords, Q6_Vh_vsplat_R(limit));
  // The last word is the number of all bits.
  const Vector counts = Q6_Vw_prefixsum_Q(mask);
  return Q6_R_vextract_VR(counts, kVectorBytes - 4) != 0;
}

// Rounded halfwords of two vectors of t, which alternate: t0 first.
inline Vector Rounded(Vector t0, Vector t1) {
  return Q6_Vh_vround_VwVw_sat(t1, t0);
}

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_REQUANTIZE_H_
