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

// What turns halfwords into bytes.
struct Limits {
  Vector zero;
  Vector low;
  Vector high;
};
inline Limits LimitsOf(const Results &r) {
  return {Q6_Vh_vsplat_R(r.zero), Q6_Vb_vsplat_R(r.low),
          Q6_Vb_vsplat_R(r.high)};
}

inline Vector Clamped(const Limits &limits, Vector bytes) {
  return Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, limits.low), limits.high);
}
// Bytes of halfwords, those of `first` in the first 64 bytes.
inline Vector Narrowed(const Limits &limits, Vector first, Vector second) {
  return Q6_Vb_vpack_VhVh_sat(Q6_Vh_vadd_VhVh_sat(second, limits.zero),
                              Q6_Vh_vadd_VhVh_sat(first, limits.zero));
}
// Bytes of the halfwords of four vectors of sums: 0 and 2 alternate in `even`,
// 1 and 3 in `odd`.
inline Vector Packed(const Limits &limits, Vector even, Vector odd) {
  return Clamped(limits, Q6_Vb_vdeal_Vb(Narrowed(limits, even, odd)));
}
// Bytes of halfwords of even and odd channels.
inline Vector PackedAlternating(const Limits &limits, Vector even, Vector odd) {
  return Clamped(limits, Q6_Vb_vshuff_Vb(Narrowed(limits, even, odd)));
}

// The bytes of four vectors of sums, and how close they were to a half.
struct Quad {
  Vector bytes;
  Vector close;
};
__attribute__((always_inline)) inline Quad FastQuad(const Limits &limits,
                                                    const Vector (&sums)[4],
                                                    const Vector (&factors)[4],
                                                    int left) {
  Vector t[4];
  for (int i = 0; i < 4; ++i) t[i] = FastProduct(sums[i], factors[i], left);
  return {Packed(limits, Rounded(t[0], t[2]), Rounded(t[1], t[3])),
          Q6_Vh_vmax_VhVh(Closeness(t[0], t[2]), Closeness(t[1], t[3]))};
}

// The exact bytes of four vectors of sums, which belong to four groups.
Vector ExactQuad(const Results &results, const Vector *sums, const int *groups);

// Vectors of bytes of a tile, whose vectors of sums, [kPixels][kGroups], are
// taken four at a time, in order.
template <int kPixels, int kGroups>
constexpr int kTileVectors = (kPixels * kGroups + 3) / 4;

// Replaces the doubtful ones of `bytes` by exact ones. `close` is what FastQuad
// says of each; null: all are doubtful. The first of `sums` belongs to the
// group `first_group`, of `groups` that follow each other again and again.
void CorrectBytes(const Results &results,
                  int first_group,
                  int groups,
                  int vectors,
                  const Vector *sums,
                  const Vector *close,
                  Vector *bytes);

// Bytes of the sums of a tile of a block, the first group of which is `group`.
template <int kPixels, int kGroups>
__attribute__((always_inline)) inline void ToBytes(
    const Results &r,
    const Limits &limits,
    int group,
    const Vector (&sums)[kPixels][kGroups],
    Vector (&bytes)[kTileVectors<kPixels, kGroups>]) {
  constexpr int kVectors = kTileVectors<kPixels, kGroups>;
  static_assert(kPixels * kGroups % 4 == 0, "");
  Vector close[kVectors];
  if (r.factor != nullptr) {
    const Vector *factor = reinterpret_cast<const Vector *>(r.factor) + group;
    Vector closest = Q6_V_vzero();
    for (int v = 0; v < kVectors; ++v) {
      Vector four[4];
      Vector factors[4];
      for (int i = 0; i < 4; ++i) {
        const int place = v * 4 + i;
        four[i] = sums[place / kGroups][place % kGroups];
        factors[i] = factor[place % kGroups];
      }
      const Quad quad = FastQuad(limits, four, factors, r.left);
      bytes[v] = quad.bytes;
      close[v] = quad.close;
      closest = v == 0 ? quad.close : Q6_Vh_vmax_VhVh(closest, quad.close);
    }
    if (__builtin_expect(!IsAnyAbove(closest, kCertain), 1)) return;
  }
  // In memory, only for this.
  Vector sums_there[kPixels * kGroups];
  Vector close_there[kVectors];
  Vector bytes_there[kVectors];
  for (int i = 0; i < kPixels * kGroups; ++i) {
    sums_there[i] = sums[i / kGroups][i % kGroups];
  }
  if (r.factor != nullptr) {
    for (int v = 0; v < kVectors; ++v) {
      close_there[v] = close[v];
      bytes_there[v] = bytes[v];
    }
  }
  CorrectBytes(r, group, kGroups, kVectors, sums_there,
               r.factor != nullptr ? close_there : nullptr, bytes_there);
  for (int v = 0; v < kVectors; ++v) bytes[v] = bytes_there[v];
}

// Stores `size` bytes of each of `pixels` pixels, whose bytes lie `stride`
// bytes apart in `bytes`; as much as a vector behind them is read.
//   to: where each is stored
void StorePixels(
    const int8_t *bytes, int stride, int pixels, int size, int8_t *const *to);

// Stores the bytes of a tile of which all pixels belong to a row of the result,
// one pixel `stride` bytes behind the other.
//   size: bytes of a pixel, at most 32 * kGroups
//   end: of the row: what lies behind a pixel and before this may be
//   overwritten
template <int kPixels, int kGroups>
__attribute__((always_inline)) inline void StoreTile(
    const Vector (&bytes)[kTileVectors<kPixels, kGroups>],
    int size,
    int8_t *to,
    int stride,
    const int8_t *end) {
  constexpr int kVectors = kTileVectors<kPixels, kGroups>;
  constexpr int kBytes = kGroups * kVectorWords;
  if (size == kBytes && stride == kBytes) {
    for (int v = 0; v < kVectors; ++v) {
      StoreUnaligned(bytes[v], to + v * kVectorBytes);
    }
    return;
  }
  if (size == kVectorBytes ||
      to + (kPixels - 1) * stride + kVectorBytes <= end) {
    for (int p = 0; p < kPixels; ++p) {
      const int v = p * kBytes / kVectorBytes;
      const int shift = p * kBytes % kVectorBytes;
      const int next = shift + kBytes > kVectorBytes ? v + 1 : v;
      StoreUnaligned(
          shift == 0 ? bytes[v] : Q6_V_valign_VVR(bytes[next], bytes[v], shift),
          to);
      to += stride;
    }
    return;
  }
  // In memory, only for this.
  Vector there[kVectors + 1];
  int8_t *to_there[kPixels];
  for (int v = 0; v < kVectors; ++v) there[v] = bytes[v];
  for (int p = 0; p < kPixels; ++p) to_there[p] = to + p * stride;
  StorePixels(reinterpret_cast<const int8_t *>(there), kBytes, kPixels, size,
              to_there);
}

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_RESULTS_H_
