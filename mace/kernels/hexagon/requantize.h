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
//   t = floor((a * 2^left) * factor / 2^31) + 2^15,   factor = floor(m * 2^(47
//   - left))
//
// is less than 2 below a * m * 2^16 + 2^15, and floats move the product by at
// most 3, where the result is less than 512. So round(float32(a) * m) is t >>
// 16, unless the lower half of t is within 5 of 0: doubtful.
constexpr int kDoubt = 5;

// Halfwords round(float32(a) * m) of the sums of two vectors, the first ones
// those of `a0`. `doubtful` gains the halfwords that have to be computed
// exactly.
inline Vector FastProducts(Vector a0,
                           Vector a1,
                           Vector factor0,
                           Vector factor1,
                           int left,
                           Mask *doubtful) {
  const Vector s0 = Q6_Vw_vasl_VwR(a0, left);
  const Vector s1 = Q6_Vw_vasl_VwR(a1, left);
  Vector t0 = Q6_Vw_vmpye_VwVuh(s0, factor0);
  Vector t1 = Q6_Vw_vmpye_VwVuh(s1, factor1);
  t0 = Q6_Vw_vmpyoacc_VwVwVh_s1_sat_shift(t0, s0, factor0);
  t1 = Q6_Vw_vmpyoacc_VwVwVh_s1_sat_shift(t1, s1, factor1);
  t0 = Q6_Vw_vadd_VwVw(t0, Words(1 << 15));
  t1 = Q6_Vw_vadd_VwVw(t1, Words(1 << 15));
  const Vector rest = Q6_Vh_vabs_Vh_sat(Q6_Vh_vpacke_VwVw(t1, t0));
  *doubtful = Q6_Q_vcmp_gtor_QVhVh(*doubtful, Q6_Vh_vsplat_R(kDoubt + 1), rest);
  return Q6_Vh_vpacko_VwVw(t1, t0);
}

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_REQUANTIZE_H_
