// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/results.h"

#include "mace/kernels/hexagon/requantize.h"

namespace mace::hexagon {
namespace {

// Whether any bit of a mask is set.
bool IsAny(Mask mask) {
  const Vector bytes = Q6_V_vand_QR(mask, kEachByte);
  const Vector sum = SumOfWords(Q6_Vw_vrmpy_VbVb(bytes, Words(kEachByte)));
  return Q6_R_vextract_VR(sum, 0) != 0;
}

// Bytes of a pixel of a block, of the halfwords of its channels.
Vector Packed(const Results &r, Vector low_half, Vector high_half) {
  const Vector zero = Q6_Vh_vsplat_R(r.zero);
  const Vector bytes =
      Q6_Vb_vpack_VhVh_sat(Q6_Vh_vadd_VhVh_sat(high_half, zero),
                           Q6_Vh_vadd_VhVh_sat(low_half, zero));
  return Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, Q6_Vb_vsplat_R(r.low)),
                         Q6_Vb_vsplat_R(r.high));
}

// What of the channels' arrays belongs to a block.
struct Block {
  int groups;
  const Vector *mantissa;
  const Vector *shift;
  const Vector *factor;
};

Vector Exact(const Results &r,
             const Block &block,
             const Vector *sums,
             int group) {
  if (group >= block.groups) return Q6_V_vzero();
  return RoundedProduct(
      sums[group], {block.mantissa[group], block.shift[group]}, r.is_float);
}

Vector ExactPixel(const Results &r, const Block &block, const Vector *sums) {
  Vector y[kBlockGroups];
  for (int g = 0; g < kBlockGroups; ++g) y[g] = Exact(r, block, sums, g);
  return Packed(r, Q6_Vh_vpack_VwVw_sat(y[1], y[0]),
                Q6_Vh_vpack_VwVw_sat(y[3], y[2]));
}

Vector FastPixel(const Results &r,
                 const Block &block,
                 const Vector *sums,
                 Mask *doubtful) {
  const int left = r.left;
  // A group that is missing repeats the last one.
  const int last = block.groups - 1;
  const int g[kBlockGroups] = {0, last < 1 ? last : 1, last < 2 ? last : 2,
                               last};
  const Vector low_half =
      FastProducts(sums[g[0]], sums[g[1]], block.factor[g[0]],
                   block.factor[g[1]], left, doubtful);
  const Vector high_half =
      FastProducts(sums[g[2]], sums[g[3]], block.factor[g[2]],
                   block.factor[g[3]], left, doubtful);
  return Packed(r, low_half, high_half);
}

}  // namespace

void ToBytes(const Results &r,
             int first_group,
             int groups,
             int pixels,
             const Vector *sums,
             int stride,
             Vector *bytes) {
  const auto at = [&](const int32_t *array) {
    return reinterpret_cast<const Vector *>(array) + first_group;
  };
  const Block block = {groups, at(r.mantissa), at(r.shift), at(r.factor)};
  if (r.factor != nullptr) {
    Mask doubtful = Q6_Q_vcmp_gt_VwVw(Q6_V_vzero(), Q6_V_vzero());
    for (int p = 0; p < pixels; ++p) {
      bytes[p * stride] = FastPixel(r, block, sums + p * groups, &doubtful);
    }
    if (!IsAny(doubtful)) return;
  }
  for (int p = 0; p < pixels; ++p) {
    bytes[p * stride] = ExactPixel(r, block, sums + p * groups);
  }
}

}  // namespace mace::hexagon
