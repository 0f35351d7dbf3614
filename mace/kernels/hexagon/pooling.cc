// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/pooling.h"

namespace mace::hexagon {
namespace {

// The sum of so many bytes fits 16 bits.
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

Vector LargestOfWindow(const Pool &p, const int8_t *x) {
  Vector largest = Q6_Vb_vsplat_R(INT8_MIN);
  for (int r = 0; r < p.rows; ++r, x += p.row_bytes) {
    const int8_t *element = x;
    for (int c = 0; c < p.columns; ++c, element += p.column_bytes) {
      largest = Q6_Vb_vmax_VbVb(largest, LoadUnaligned(element));
    }
  }
  return largest;
}

// Sums of bytes with bit 7 the other way.
class WindowSums {
 public:
  __attribute__((always_inline)) void Add(Vector a, Vector b) {
    if (held_ + 2 > kShortSum) Widen();
    short_ = Q6_Wh_vaddacc_WhVubVub(short_, Flipped(a), Flipped(b));
    held_ += 2;
  }
  void Add(Vector a) {
    // Which becomes 0.
    Add(a, Q6_Vb_vsplat_R(kFlip));
  }
  void Finish(int32_t offset, SpreadWords *sums) {
    Widen();
    for (int i = 0; i < kWordsOfByte; ++i) {
      (*sums)[i] = Q6_Vw_vsub_VwVw(words_[i], Words(offset));
    }
  }

 private:
  void Widen() {
    const Pair even = Q6_Wuw_vzxt_Vuh(Q6_V_lo_W(short_));
    const Pair odd = Q6_Wuw_vzxt_Vuh(Q6_V_hi_W(short_));
    words_[0] = Q6_Vw_vadd_VwVw(words_[0], Q6_V_lo_W(even));
    words_[1] = Q6_Vw_vadd_VwVw(words_[1], Q6_V_lo_W(odd));
    words_[2] = Q6_Vw_vadd_VwVw(words_[2], Q6_V_hi_W(even));
    words_[3] = Q6_Vw_vadd_VwVw(words_[3], Q6_V_hi_W(odd));
    short_ = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero());
    held_ = 0;
  }

  Pair short_ = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero());
  int held_ = 0;
  SpreadWords words_ = {Q6_V_vzero(), Q6_V_vzero(), Q6_V_vzero(), Q6_V_vzero()};
};

void SumOfWindow(const Pool &p,
                 const int8_t *x,
                 int32_t offset,
                 SpreadWords *sums) {
  WindowSums window;
  for (int r = 0; r < p.rows; ++r, x += p.row_bytes) {
    const int8_t *element = x;
    int c = 0;
    for (; c + 2 <= p.columns; c += 2, element += 2 * p.column_bytes) {
      window.Add(LoadUnaligned(element),
                 LoadUnaligned(element + p.column_bytes));
    }
    if (c < p.columns) window.Add(LoadUnaligned(element));
  }
  window.Finish(offset, sums);
}

}  // namespace

void LargestRow(const Pool &p, const int8_t *x, int pixels, int8_t *y) {
  ForPixels(p, x, pixels, y, [&](const int8_t *from, int bytes, int8_t *to) {
    ForVectors(bytes, to, [&](int i) { return LargestOfWindow(p, from + i); });
  });
}

void AverageRow(const Pool &p,
                const Average &average,
                const int8_t *x,
                int pixels,
                int8_t *y) {
  const int32_t elements = p.rows * p.columns;
  const ScaledSums scaled(average.multiplier,
                          static_cast<uint32_t>(elements) * 255, average.range);
  const int32_t offset = elements * (average.x_zero + kFlipOffset);
  ForPixels(p, x, pixels, y, [&](const int8_t *from, int bytes, int8_t *to) {
    ForVectors(bytes, to, [&](int i) {
      SpreadWords sums;
      SumOfWindow(p, from + i, offset, &sums);
      return scaled.ToBytesInOrder(sums);
    });
  });
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
