// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/matrices.h"

#include "mace/kernels/hexagon/pooling.h"

namespace mace::hexagon {
namespace {

constexpr int kFour = 4;
constexpr int kRows = 4;
constexpr uint32_t kFlips = 0x80808080u;

// Of any type's memory.
using Word = uint32_t __attribute__((may_alias));

int Fours(int depth) { return (depth + kFour - 1) / kFour; }

// Four rows of q, of 128 columns; rows that are missing become 0.
void PackFour(const int8_t *q, int step, int rows, Vector *packed) {
  Vector row[kFour];
  for (int i = 0; i < kFour; ++i) {
    row[i] = i < rows ? Flipped(LoadUnaligned(q + i * step)) : Q6_V_vzero();
  }
  const Pair low = Q6_W_vshuff_VVR(row[1], row[0], -1);
  const Pair high = Q6_W_vshuff_VVR(row[3], row[2], -1);
  const Pair first = Q6_W_vshuff_VVR(Q6_V_lo_W(high), Q6_V_lo_W(low), -2);
  const Pair second = Q6_W_vshuff_VVR(Q6_V_hi_W(high), Q6_V_hi_W(low), -2);
  packed[0] = Q6_V_lo_W(first);
  packed[1] = Q6_V_hi_W(first);
  packed[2] = Q6_V_lo_W(second);
  packed[3] = Q6_V_hi_W(second);
}

// The sum of the bytes of each word.
Vector AddBytes(Vector sum, Vector words) {
  return Q6_Vuw_vrmpyacc_VuwVubRub(sum, words, kEachByte);
}

// A block of 128 columns.
void PackBlock(const MatrixColumns &m, int first, Vector *to) {
  Vector sums[kBlockGroups];
  for (Vector &sum : sums) sum = Q6_V_vzero();
  for (int k = 0; k < m.depth; k += kFour, to += kBlockGroups) {
    PackFour(m.q + k * m.step + first, m.step, m.depth - k, to);
    for (int g = 0; g < kBlockGroups; ++g) sums[g] = AddBytes(sums[g], to[g]);
  }
  for (const Vector &sum : sums) *to++ = sum;
}

// Up to 32 columns of a block, which are rows of the transpose. Columns that
// are missing become 0.
void PackGroupTransposed(const MatrixColumns &m, int first, Vector *to) {
  const int left = m.columns - first;
  const int columns = left < kVectorWords ? left : kVectorWords;
  Vector sum = Q6_V_vzero();
  for (int k = 0; k < m.depth; k += kFour, to += kBlockGroups) {
    const int rows = m.depth - k;
    const uint32_t mask = rows >= kFour ? UINT32_MAX : (1u << (8 * rows)) - 1;
    const int8_t *q = m.q + first * m.step + k;
    auto *words = reinterpret_cast<Word *>(to);
    *to = Q6_V_vzero();
    for (int n = 0; n < columns; ++n, q += m.step) {
      words[n] = (*reinterpret_cast<const Word *>(q) ^ kFlips) & mask;
    }
    sum = AddBytes(sum, *to);
  }
  *to = sum;
}

// By a factor of 16 bits, modulo 2^32.
Vector ProductOfWords(Vector words, int32_t factor) {
  return Q6_Vw_vmpyi_VwRh(
      words, static_cast<int32_t>(static_cast<uint32_t>(factor & UINT16_MAX) *
                                  0x10001u));
}

// kCount rows of p, of a block of columns.
template <int kCount>
void MultiplyBlock(const MatrixProduct &m,
                   const ScaledSums &scaled,
                   const Vector *packed,
                   const int8_t *p,
                   const int32_t *starts,
                   int columns,
                   int8_t *y) {
  const int fours = Fours(m.depth);
  const Vector *of_columns = packed + fours * kBlockGroups;
  Vector sums[kCount][kBlockGroups];
  for (int g = 0; g < kBlockGroups; ++g) {
    // What the zero point of p takes off; modulo 2^32.
    const Vector start = ProductOfWords(of_columns[g], -m.p_zero);
    for (int r = 0; r < kCount; ++r) {
      sums[r][g] = Q6_Vw_vadd_VwVw(start, Words(starts[r]));
    }
  }
  for (int k = 0; k < fours; ++k, packed += kBlockGroups) {
    for (int r = 0; r < kCount; ++r) {
      const auto four = static_cast<int32_t>(
          *reinterpret_cast<const Word *>(p + r * m.p_step + k * kFour));
      for (int g = 0; g < kBlockGroups; ++g) {
        sums[r][g] = Q6_Vw_vrmpyacc_VwVubRb(sums[r][g], packed[g], four);
      }
    }
  }
  for (int r = 0; r < kCount; ++r) {
    const SpreadWords words = {sums[r][0], sums[r][1], sums[r][2], sums[r][3]};
    StoreFirst(scaled.ToBytes(words), y + r * m.y_step, columns);
  }
}

}  // namespace

void PackColumns(const MatrixColumns &m, int begin, int end) {
  const int block_vectors = (Fours(m.depth) + 1) * kBlockGroups;
  auto *packed = reinterpret_cast<Vector *>(m.packed);
  for (int n = begin; n < end; n += m.unit()) {
    Vector *block = packed + n / kBlockChannels * block_vectors;
    if (m.is_transposed) {
      PackGroupTransposed(m, n, block + n % kBlockChannels / kVectorWords);
    } else {
      PackBlock(m, n, block);
    }
  }
}

void MultiplyRows(const MatrixProduct &m,
                  const int8_t *p,
                  int rows,
                  int8_t *y) {
  constexpr uint32_t kMostProduct = 255 * 255;
  const bool fits = m.depth <= static_cast<int>(INT32_MAX / kMostProduct);
  const ScaledSums scaled(
      m.multiplier,
      fits ? static_cast<uint32_t>(m.depth) * kMostProduct : UINT32_MAX,
      m.range);
  const auto z = static_cast<uint32_t>(m.q_zero + kFlipOffset);
  const auto p_zero = static_cast<uint32_t>(m.p_zero);
  const int fours = Fours(m.depth);
  const int block_vectors = (fours + 1) * kBlockGroups;
  const auto *packed = reinterpret_cast<const Vector *>(m.packed);
  for (int n = 0; n < m.columns; n += kBlockChannels, packed += block_vectors) {
    const int left = m.columns - n;
    const int columns = left < kBlockChannels ? left : kBlockChannels;
    for (int r = 0; r < rows; r += kRows) {
      const int count = rows - r < kRows ? rows - r : kRows;
      int32_t starts[kRows];
      for (int i = 0; i < count; ++i) {
        const auto sum =
            static_cast<uint32_t>(SumOfRun(p + (r + i) * m.p_step, m.depth));
        starts[i] = static_cast<int32_t>(
            static_cast<uint32_t>(m.depth) * p_zero * z - z * sum);
      }
      const int8_t *from = p + r * m.p_step;
      int8_t *to = y + r * m.y_step + n;
      if (count == kRows) {
        MultiplyBlock<kRows>(m, scaled, packed, from, starts, columns, to);
        continue;
      }
      for (int i = 0; i < count; ++i) {
        MultiplyBlock<1>(m, scaled, packed, from + i * m.p_step, starts + i,
                         columns, to + i * m.y_step);
      }
    }
  }
}

}  // namespace mace::hexagon
