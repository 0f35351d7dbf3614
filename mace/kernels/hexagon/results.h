// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of channels to the bytes of pixels.

#ifndef MACE_KERNELS_HEXAGON_RESULTS_H_
#define MACE_KERNELS_HEXAGON_RESULTS_H_

#include "mace/kernels/hexagon/hvx.h"
#include "mace/kernels/hexagon/requantize.h"

namespace mace::hexagon {

// How sums become bytes. Arrays have an element for each channel, rounded up to
// a multiple of 32, and begin at multiples of 128 bytes.
struct Results {
  const int32_t *bias;      // with what the zero point of the input adds
  const int32_t *mantissa;  // see SplitMultiplier
  const int32_t *shift;
  const int32_t *factor;  // see FastFactor; null: all results are exact
  int left;               // of factors
  bool is_float;          // every sum is at most 2^24
  int8_t zero;            // zero point, as int8
  int8_t low;             // limits of the result
  int8_t high;
};

// Whether any bit of a mask is set.
inline bool IsAny(Mask mask) {
  // The last word is the number of all bits.
  const Vector counts = Q6_Vw_prefixsum_Q(mask);
  return Q6_R_vextract_VR(counts, kVectorBytes - 4) != 0;
}

// Bytes of a pixel of a block, of the halfwords of its channels.
inline Vector Packed(const Results &r, Vector low_half, Vector high_half) {
  const Vector zero = Q6_Vh_vsplat_R(r.zero);
  const Vector bytes =
      Q6_Vb_vpack_VhVh_sat(Q6_Vh_vadd_VhVh_sat(high_half, zero),
                           Q6_Vh_vadd_VhVh_sat(low_half, zero));
  return Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, Q6_Vb_vsplat_R(r.low)),
                         Q6_Vb_vsplat_R(r.high));
}

// The multipliers of a block of kGroups groups.
template <int kGroups>
class BlockResults {
 public:
  BlockResults(const Results &results, int first_group)
      : r_(results),
        mantissa_(At(results.mantissa, first_group)),
        shift_(At(results.shift, first_group)),
        factor_(At(results.factor, first_group)) {}

  // Bytes of pixels, [4 / kVectorsOfPixels] vectors: kGroups * 32 bytes for
  // each, or 128 if kGroups is 3.
  __attribute__((always_inline)) void ToBytes(const Vector (*sums)[kGroups],
                                              Vector *bytes) const {
    if (r_.factor != nullptr) {
      Mask doubtful = Q6_Q_vcmp_gt_VwVw(Q6_V_vzero(), Q6_V_vzero());
      const auto fast = [&](int p, int g) {
        // What has no second group is doubled.
        const int q = p * kGroups + g;
        const int next = Next(q);
        return FastProducts(Sum(sums, q), Sum(sums, next), Factor(q),
                            Factor(next), r_.left, &doubtful);
      };
      Pack(fast, bytes);
      if (!IsAny(doubtful)) return;
    }
    const auto exact = [&](int p, int g) {
      const int q = p * kGroups + g;
      const int next = Next(q);
      return Q6_Vh_vpack_VwVw_sat(Exact(sums, next), Exact(sums, q));
    };
    Pack(exact, bytes);
  }

  // Vectors of bytes for 4 pixels.
  static constexpr int kVectors = kGroups == 1 ? 1 : kGroups == 2 ? 2 : 4;
  // Pixels in each.
  static constexpr int kPixels = 4 / kVectors;

 private:
  static const Vector *At(const int32_t *array, int group) {
    return reinterpret_cast<const Vector *>(array) + group;
  }
  static Vector Sum(const Vector (*sums)[kGroups], int q) {
    return sums[q / kGroups][q % kGroups];
  }
  Vector Factor(int q) const { return factor_[q % kGroups]; }
  // The vector of sums beside another one in a vector of halfwords.
  static constexpr int Next(int q) {
    return kGroups == 3 && q % kGroups == 2 ? q : q + 1;
  }
  Vector Exact(const Vector (*sums)[kGroups], int q) const {
    return RoundedProduct(Sum(sums, q),
                          {mantissa_[q % kGroups], shift_[q % kGroups]},
                          r_.is_float);
  }

  // `halves` makes the halfwords of the sums of pixel p that begin with group
  // g.
  template <typename Halves>
  __attribute__((always_inline)) void Pack(const Halves &halves,
                                           Vector *bytes) const {
    for (int v = 0; v < kVectors; ++v) {
      const int p = v * kPixels;
      const Vector low = halves(p, 0);
      const Vector high = kGroups == 1   ? halves(p + 2, 0)
                          : kGroups == 2 ? halves(p + 1, 0)
                                         : halves(p, 2);
      bytes[v] = Packed(r_, low, high);
    }
  }

  const Results &r_;
  const Vector *mantissa_;
  const Vector *shift_;
  const Vector *factor_;
};

// Stores the bytes of up to kPixels pixels, which share a vector: `size` bytes
// of each, one pixel `stride` bytes behind the other.
template <int kPixels>
inline void StorePixels(
    Vector bytes, int count, int size, int8_t *to, int stride) {
  constexpr int kBytes = kVectorBytes / kPixels;
  if (size == kBytes && stride == kBytes) {
    if (count >= kPixels) {
      StoreUnaligned(bytes, to);
    } else if (count > 0) {
      StoreFirst(bytes, to, count * kBytes);
    }
    return;
  }
  for (int p = 0; p < kPixels && p < count; ++p) {
    const Vector pixel = Q6_V_vror_VR(bytes, p * kBytes);
    if (size == kVectorBytes) {
      StoreUnaligned(pixel, to + p * stride);
    } else {
      StoreFirst(pixel, to + p * stride, size);
    }
  }
}

// Stores the bytes of a block of up to 4 pixels, of which `result` is the
// first.
//   first_group: of the block
//   pixels: how many of the 4 belong to the row
//   pixel_bytes: of a pixel of all blocks
template <int kGroups>
__attribute__((always_inline)) inline void StoreBlock(
    const BlockResults<kGroups> &block,
    const Vector (*sums)[kGroups],
    int first_group,
    int pixels,
    int pixel_bytes,
    int8_t *result) {
  using Block = BlockResults<kGroups>;
  const int first_byte = first_group * kVectorWords;
  int size = pixel_bytes - first_byte;
  if (size > kGroups * kVectorWords) size = kGroups * kVectorWords;
  Vector bytes[Block::kVectors];
  block.ToBytes(sums, bytes);
  for (int v = 0; v < Block::kVectors; ++v) {
    const int p = v * Block::kPixels;
    StorePixels<Block::kPixels>(bytes[v], pixels - p, size,
                                result + first_byte + p * pixel_bytes,
                                pixel_bytes);
  }
}

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_RESULTS_H_
