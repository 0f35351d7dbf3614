// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/softmax.h"

#include "mace/kernels/hexagon/lookup.h"
#include "mace/kernels/hexagon/pooling.h"

namespace mace::hexagon {
namespace {

constexpr int kDoubleBits = 53;
constexpr int kEntryVectors = kTableEntries / kVectorWords;
constexpr int kPlanes = 4;  // bytes of an exponential

// A number as mantissa * 2^exponent.
struct Number {
  uint64_t mantissa;
  int exponent;
};

int BitsOf(uint64_t number) { return 64 - __builtin_clzll(number); }

// To `bits` bits, ties to even; `sticky`: whether the number is a little
// larger. It has more bits.
Number Rounded(uint64_t mantissa, int exponent, int bits, bool sticky) {
  const int drop = BitsOf(mantissa) - bits;
  const uint64_t kept = mantissa >> drop;
  const uint64_t rest = mantissa & ((uint64_t{1} << drop) - 1);
  const uint64_t half = uint64_t{1} << (drop - 1);
  const bool up = rest > half || (rest == half && (sticky || (kept & 1) != 0));
  Number result = {kept + (up ? 1u : 0u), exponent + drop};
  if (BitsOf(result.mantissa) > bits) {
    result.mantissa >>= 1;
    ++result.exponent;
  }
  return result;
}

// float64(sum) * scale, with a mantissa of 53 bits.
Number Product(uint64_t sum, Number scale) {
  const uint64_t low = (sum & UINT32_MAX) * scale.mantissa;
  const uint64_t high = (sum >> 32) * scale.mantissa + (low >> 32);
  const auto low_word = static_cast<uint32_t>(low);
  // Of the product, the highest 64 bits, and whether there are others.
  if (high == 0 || BitsOf(high) <= 32) {
    const uint64_t all = (high << 32) | low_word;
    if (BitsOf(all) > kDoubleBits) {
      return Rounded(all, scale.exponent, kDoubleBits, false);
    }
    const int shift = kDoubleBits - BitsOf(all);
    return {all << shift, scale.exponent - shift};
  }
  const int drop = BitsOf(high) - 32;
  const uint64_t top = (high << (32 - drop)) | (low_word >> drop);
  const bool sticky = (low_word & ((1u << drop) - 1)) != 0;
  return Rounded(top, scale.exponent + drop, kDoubleBits, sticky);
}

// floor(2^105 / p) and the remainder, for p of 53 bits.
uint64_t Reciprocal(uint64_t p, uint64_t *remainder) {
  // Newton's method for 1 / d, d = p / 2^53: r * (2 - d * r), from a line that
  // is wrong by at most 1/17. r has 30 bits of fraction, the last one 62.
  constexpr int kRestBits = kDoubleBits - 32;
  constexpr uint64_t kLineStart = 3031741620;  // 48 / 17
  constexpr uint64_t kLineSlope = 2021161080;  // 32 / 17
  const uint64_t d = p >> kRestBits;           // 32 bits of fraction
  const uint64_t rest = p & ((uint64_t{1} << kRestBits) - 1);
  uint64_t r = kLineStart - ((kLineSlope * d) >> 32);
  for (int i = 0; i < 3; ++i) {
    const uint64_t product = (r * d) >> 32;
    r = (r * ((uint64_t{1} << 31) - product)) >> 30;
  }
  const uint64_t product = d * r + ((rest * r) >> kRestBits);
  const auto error = static_cast<int64_t>((uint64_t{1} << 62) - product);
  const int64_t move = static_cast<int64_t>(r) * (error >> 8);
  const uint64_t fine = (r << 32) + static_cast<uint64_t>(move >> 22);
  // q is wrong by a few, and the remainder says by how many.
  uint64_t q = fine >> 10;
  auto left = static_cast<int64_t>(0 - q * p);  // of 2^105, modulo 2^64
  const auto signed_p = static_cast<int64_t>(p);
  while (left < 0) {
    --q;
    left += signed_p;
  }
  while (left >= signed_p) {
    ++q;
    left -= signed_p;
  }
  *remainder = static_cast<uint64_t>(left);
  return q;
}

// E's bytes, as tables.
struct Planes {
  Table tables[kPlanes];
};

Planes MakePlanes(const Vector *exponentials) {
  Vector bytes[kPlanes][2];
  for (int half = 0; half < 2; ++half) {
    const Vector *e = exponentials + half * kEntryVectors / 2;
    const Vector low0 = Q6_Vh_vpacke_VwVw(e[1], e[0]);
    const Vector low1 = Q6_Vh_vpacke_VwVw(e[3], e[2]);
    const Vector high0 = Q6_Vh_vpacko_VwVw(e[1], e[0]);
    const Vector high1 = Q6_Vh_vpacko_VwVw(e[3], e[2]);
    bytes[0][half] = Q6_Vb_vpacke_VhVh(low1, low0);
    bytes[1][half] = Q6_Vb_vpacko_VhVh(low1, low0);
    bytes[2][half] = Q6_Vb_vpacke_VhVh(high1, high0);
    bytes[3][half] = Q6_Vb_vpacko_VhVh(high1, high0);
  }
  Planes planes;
  for (int i = 0; i < kPlanes; ++i) {
    planes.tables[i] = MakeTable(bytes[i][0], bytes[i][1]);
  }
  return planes;
}

// The sum of E[largest - x[i]]; of a row of at most one vector, `bytes` are the
// planes' bytes of its elements.
uint64_t SumOfExponentials(const Planes &planes,
                           const int8_t *x,
                           int count,
                           Vector largest,
                           Vector (&bytes)[kPlanes]) {
  const Vector ones = Words(kEachByte);
  Vector sums[kPlanes];
  for (Vector &sum : sums) sum = Q6_V_vzero();
  for (int i = 0; i < count; i += kVectorBytes) {
    const Vector k = Q6_Vb_vsub_VbVb(largest, LoadUnaligned(x + i));
    const int left = count - i;
    const bool is_whole = left >= kVectorBytes;
    const Mask inside = Q6_Q_vsetq2_R(is_whole ? kVectorBytes : left);
    for (int p = 0; p < kPlanes; ++p) {
      bytes[p] = Q6_V_vand_QV(inside, Lookup(planes.tables[p], k));
      sums[p] = Q6_Vuw_vrmpyacc_VuwVubVub(sums[p], bytes[p], ones);
    }
  }
  uint64_t sum = 0;
  for (int p = kPlanes; p-- > 0;) {
    const int32_t words = Q6_R_vextract_VR(SumOfWords(sums[p]), 0);
    sum = (sum << 8) + static_cast<uint32_t>(words);
  }
  return sum;
}

// Words of the planes' bytes, in their order.
void WordsOf(const Vector (&bytes)[kPlanes], SpreadWords *words) {
  const Pair low = Q6_W_vshuff_VVR(bytes[1], bytes[0], -1);
  const Pair high = Q6_W_vshuff_VVR(bytes[3], bytes[2], -1);
  const Pair first = Q6_W_vshuff_VVR(Q6_V_lo_W(high), Q6_V_lo_W(low), -2);
  const Pair second = Q6_W_vshuff_VVR(Q6_V_hi_W(high), Q6_V_hi_W(low), -2);
  (*words)[0] = Q6_V_lo_W(first);
  (*words)[1] = Q6_V_hi_W(first);
  (*words)[2] = Q6_V_lo_W(second);
  (*words)[3] = Q6_V_hi_W(second);
}

// The results of each k.
Table MakeResults(const Vector *exponentials, const ScaledSums &scaled) {
  Vector bytes[2];
  for (int half = 0; half < 2; ++half) {
    const Vector *e = exponentials + half * kEntryVectors / 2;
    const SpreadWords words = {e[0], e[1], e[2], e[3]};
    bytes[half] = scaled.ToBytes(words);
  }
  return MakeTable(bytes[0], bytes[1]);
}

}  // namespace

float SoftmaxFactor(uint64_t sum, float scale) {
  constexpr uint32_t kFraction = (1u << (kFloatBits - 1)) - 1;
  constexpr int kBias = 150;  // of the exponent of a mantissa of 24 bits
  const auto bits = __builtin_bit_cast(uint32_t, scale);
  const Number parts = {(bits & kFraction) + kFraction + 1,
                        static_cast<int>(bits >> (kFloatBits - 1)) - kBias};
  const Number divisor = Product(sum, parts);
  uint64_t remainder = 0;
  const uint64_t q = Reciprocal(divisor.mantissa, &remainder);
  // To 53 bits: no remainder is half of the divisor, as that has odd factors.
  // Only 2^53 has more, which is exact.
  Number m = {q, -2 * kDoubleBits + 1 - divisor.exponent};
  if (2 * remainder > divisor.mantissa) ++m.mantissa;
  m = Rounded(m.mantissa, m.exponent, kFloatBits, false);
  const int exponent = m.exponent + kBias;
  if (exponent < 1) return __builtin_bit_cast(float, 1u << (kFloatBits - 1));
  return __builtin_bit_cast(
      float, (static_cast<uint32_t>(exponent) << (kFloatBits - 1)) |
                 (static_cast<uint32_t>(m.mantissa) & kFraction));
}

void SoftmaxRows(const Softmax &s,
                 const int8_t *x,
                 int x_step,
                 int count,
                 int rows,
                 int8_t *y,
                 int y_step) {
  // 2^30 itself, which E[0] alone is, is within the limits as well.
  constexpr uint32_t kMost = (1u << 30) - 1;
  const auto *exponentials = reinterpret_cast<const Vector *>(s.exponentials);
  const Planes planes = MakePlanes(exponentials);
  for (int row = 0; row < rows; ++row, x += x_step, y += y_step) {
    const Vector largest = Q6_Vb_vsplat_R(LargestOfRun(x, count));
    Vector bytes[kPlanes];
    const uint64_t sum = SumOfExponentials(planes, x, count, largest, bytes);
    const ScaledSums scaled(SoftmaxFactor(sum, s.scale), kMost, s.range);
    if (count <= kVectorBytes) {
      SpreadWords words;
      WordsOf(bytes, &words);
      StoreFirst(scaled.ToBytes(words), y, count);
      continue;
    }
    const Table results = MakeResults(exponentials, scaled);
    ForVectors(count, y, [&](int i) {
      return Lookup(results, Q6_Vb_vsub_VbVb(largest, LoadUnaligned(x + i)));
    });
  }
}

}  // namespace mace::hexagon
