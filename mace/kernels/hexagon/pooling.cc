// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/pooling.h"

namespace mace::hexagon {
namespace {

// The sum of so many bytes fits 16 bits; each row of a window may have one
// more, which is 0.
constexpr int kShortSum = 256;

// Calls row(x, bytes, y) for each pixel, or once if windows and results lie
// side by side: each byte then has a window of its own.
template <typename Row>
__attribute__((always_inline)) inline void ForPixels(
    const Pool &p, const int8_t *x, int pixels, int8_t *y, const Row &row) {
  if (p.step_bytes == p.pixel_bytes && p.bytes == p.pixel_bytes) {
    row(x, p.bytes * pixels, y);
    return;
  }
  for (int i = 0; i < pixels; ++i) {
    row(x + i * p.step_bytes, p.bytes, y + i * p.pixel_bytes);
  }
}

// Calls function(x, y) with the elements of a window in pairs, in which `none`
// stands for one that is missing. kColumns: of the window; 0: any number.
template <int kColumns, typename Function>
__attribute__((always_inline)) inline void ForPairs(const Pool &p,
                                                    const int8_t *x,
                                                    Vector none,
                                                    const Function &function) {
  const int columns = kColumns != 0 ? kColumns : p.columns;
  for (int r = 0; r < p.rows; ++r, x += p.row_bytes) {
    const int8_t *element = x;
    int c = 0;
    for (; c + 2 <= columns; c += 2, element += 2 * p.column_bytes) {
      function(LoadUnaligned(element), LoadUnaligned(element + p.column_bytes));
    }
    if (c < columns) function(LoadUnaligned(element), none);
  }
}

template <int kColumns>
__attribute__((always_inline)) inline Vector LargestOfWindow(const Pool &p,
                                                             const int8_t *x) {
  const Vector least = Q6_Vb_vsplat_R(INT8_MIN);
  Vector largest = least;
  ForPairs<kColumns>(p, x, least, [&](Vector a, Vector b) {
    largest = Q6_Vb_vmax_VbVb(largest, Q6_Vb_vmax_VbVb(a, b));
  });
  return largest;
}

template <int kColumns>
void LargestOfWindows(const Pool &p, const int8_t *x, int pixels, int8_t *y) {
  ForPixels(p, x, pixels, y, [&](const int8_t *from, int bytes, int8_t *to) {
    ForVectors(bytes, to,
               [&](int i) { return LargestOfWindow<kColumns>(p, from + i); });
  });
}

void AddSpread(Pair halves, SpreadWords *words) {
  const Pair even = Q6_Wuw_vzxt_Vuh(Q6_V_lo_W(halves));
  const Pair odd = Q6_Wuw_vzxt_Vuh(Q6_V_hi_W(halves));
  (*words)[0] = Q6_Vw_vadd_VwVw((*words)[0], Q6_V_lo_W(even));
  (*words)[1] = Q6_Vw_vadd_VwVw((*words)[1], Q6_V_lo_W(odd));
  (*words)[2] = Q6_Vw_vadd_VwVw((*words)[2], Q6_V_hi_W(even));
  (*words)[3] = Q6_Vw_vadd_VwVw((*words)[3], Q6_V_hi_W(odd));
}

// Sums of bytes with bit 7 the other way. kIsShort: of windows of at most
// kShortSum elements.
template <int kColumns, bool kIsShort>
__attribute__((always_inline)) inline void SumOfWindow(const Pool &p,
                                                       const int8_t *x,
                                                       int32_t offset,
                                                       SpreadWords *sums) {
  const Pair zeros = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero());
  // Which becomes 0.
  const Vector none = Q6_Vb_vsplat_R(kFlip);
  Pair halves = zeros;
  int held = 0;
  for (Vector &sum : *sums) sum = Words(-offset);
  ForPairs<kColumns>(p, x, none, [&](Vector a, Vector b) {
    if constexpr (!kIsShort) {
      if (held + 2 > kShortSum) {
        AddSpread(halves, sums);
        halves = zeros;
        held = 0;
      }
      held += 2;
    }
    halves = Q6_Wh_vaddacc_WhVubVub(halves, Flipped(a), Flipped(b));
  });
  AddSpread(halves, sums);
}

// What all windows of a row have in common.
struct Averages {
  ScaledSums scaled;
  int32_t offset;
};

template <int kColumns, bool kIsShort>
void AveragesOfWindows(const Pool &p,
                       const Averages &averages,
                       const int8_t *x,
                       int pixels,
                       int8_t *y) {
  ForPixels(p, x, pixels, y, [&](const int8_t *from, int bytes, int8_t *to) {
    ForVectors(bytes, to, [&](int i) {
      SpreadWords sums;
      SumOfWindow<kColumns, kIsShort>(p, from + i, averages.offset, &sums);
      return averages.scaled.ToBytesInOrder(sums);
    });
  });
}

}  // namespace

void LargestRow(const Pool &p, const int8_t *x, int pixels, int8_t *y) {
  switch (p.columns) {
    case 2:
      LargestOfWindows<2>(p, x, pixels, y);
      break;
    case 3:
      LargestOfWindows<3>(p, x, pixels, y);
      break;
    default:
      LargestOfWindows<0>(p, x, pixels, y);
  }
}

void AverageRow(const Pool &p,
                const Average &average,
                const int8_t *x,
                int pixels,
                int8_t *y) {
  const int32_t elements = p.rows * p.columns;
  const Averages averages = {
      ScaledSums(average.multiplier, static_cast<uint32_t>(elements) * 255,
                 average.range),
      elements * (average.x_zero + kFlipOffset)};
  if (elements > kShortSum) {
    AveragesOfWindows<0, false>(p, averages, x, pixels, y);
  } else if (p.columns == 3) {
    AveragesOfWindows<3, true>(p, averages, x, pixels, y);
  } else {
    AveragesOfWindows<0, true>(p, averages, x, pixels, y);
  }
}

int8_t LargestOfRun(const int8_t *x, int count) {
  const Vector least = Q6_Vb_vsplat_R(INT8_MIN);
  Vector largest = least;
  int i = 0;
  for (; i + kVectorBytes <= count; i += kVectorBytes) {
    largest = Q6_Vb_vmax_VbVb(largest, LoadUnaligned(x + i));
  }
  if (i < count) {
    const Mask first = Q6_Q_vsetq_R(count - i);
    largest = Q6_Vb_vmax_VbVb(
        largest, Q6_V_vmux_QVV(first, LoadUnaligned(x + i), least));
  }
  for (int bytes = kVectorBytes / 2; bytes > 0; bytes /= 2) {
    largest = Q6_Vb_vmax_VbVb(largest, Q6_V_vror_VR(largest, bytes));
  }
  return static_cast<int8_t>(Q6_R_vextract_VR(largest, 0));
}

int32_t SumOfRun(const int8_t *x, int count) {
  const Vector ones = Words(kEachByte);
  Vector sum = Q6_V_vzero();
  int i = 0;
  for (; i + kVectorBytes <= count; i += kVectorBytes) {
    sum = Q6_Vw_vrmpyacc_VwVbVb(sum, LoadUnaligned(x + i), ones);
  }
  if (i < count) {
    const Mask first = Q6_Q_vsetq_R(count - i);
    sum = Q6_Vw_vrmpyacc_VwVbVb(sum, Q6_V_vand_QV(first, LoadUnaligned(x + i)),
                                ones);
  }
  return Q6_R_vextract_VR(SumOfWords(sum), 0);
}

}  // namespace mace::hexagon
