// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tables of 256 bytes that are looked up by each byte of a register, or of four
// on armv7, which has too few registers for a table. A kernel source includes
// this beside simd.h, whose conventions apply.

#ifndef MACE_KERNELS_CPU_SIMD_TABLE_H_
#define MACE_KERNELS_CPU_SIMD_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_vector.h"

namespace mace::simd::MACE_ISA {

#if defined(__SSE4_1__)

inline constexpr size_t kBytes = 4 * kLanes;

using Bytes = X86Vector;
MACE_SIMD_INLINE Bytes SetBytes(uint8_t x) {
  return MACE_X86(set1_epi8, static_cast<char>(x));
}
MACE_SIMD_INLINE Bytes FourTimes(__m128i x) {
#if defined(__AVX512F__)
  return _mm512_broadcast_i32x4(x);
#elif defined(__AVX2__)
  return _mm256_broadcastsi128_si256(x);
#else
  return x;
#endif
}
MACE_SIMD_INLINE Bytes ShuffleBytes(Bytes table, Bytes index) {
  return MACE_X86(shuffle_epi8, table, index);
}
MACE_SIMD_INLINE Bytes SaturatingSub(Bytes a, Bytes b) {
  return MACE_X86(subs_epi8, a, b);
}

// A shuffle looks up 16 bytes by the lower four bits of an index, and gives 0
// where its highest bit is set. Part i of a half is combined (exclusive or)
// with part i - 1. An index in part n of a half then passes the parts 0 to n,
// of which only part n is left; it becomes negative before part n + 1. An index
// of the other half is negative from the beginning, which saturation preserves.
class ByteTable {
 public:
  MACE_SIMD_INLINE ByteTable Load(const uint8_t *table) {
    ByteTable t;
    for (int i = 0; i < kParts; ++i) {
      __m128i part;
      __builtin_memcpy(&part, table + 16 * i, sizeof(part));
      if (i % (kParts / 2) != 0) {
        __m128i before;
        __builtin_memcpy(&before, table + 16 * (i - 1), sizeof(before));
        part ^= before;
      }
      t.parts_[i] = FourTimes(part);
    }
    return t;
  }

  __attribute__((always_inline)) Bytes At(Bytes index) const {
    const Bytes part = SetBytes(16);
    Bytes low = index;
    Bytes high = index ^ SetBytes(0x80);
    Bytes y =
        ShuffleBytes(parts_[0], low) ^ ShuffleBytes(parts_[kParts / 2], high);
#pragma clang loop unroll(full)
    for (int i = 1; i < kParts / 2; ++i) {
      low = SaturatingSub(low, part);
      high = SaturatingSub(high, part);
      y ^= ShuffleBytes(parts_[i], low) ^
           ShuffleBytes(parts_[kParts / 2 + i], high);
    }
    return y;
  }

 private:
  static constexpr int kParts = 16;
  Bytes parts_[kParts];
};

#elif defined(__aarch64__)

inline constexpr size_t kBytes = 4 * kLanes;
using Bytes = uint8x16_t;

class ByteTable {
 public:
  MACE_SIMD_INLINE ByteTable Load(const uint8_t *table) {
    ByteTable t;
    for (int i = 0; i < kParts; ++i) t.parts_[i] = vld1q_u8_x4(table + 64 * i);
    return t;
  }

  // An index outside of a part leaves what was found before.
  __attribute__((always_inline)) Bytes At(Bytes index) const {
    Bytes y = vqtbl4q_u8(parts_[0], index);
#pragma clang loop unroll(full)
    for (int i = 1; i < kParts; ++i) {
      y = vqtbx4q_u8(y, parts_[i], index - static_cast<uint8_t>(64 * i));
    }
    return y;
  }

 private:
  static constexpr int kParts = 4;
  uint8x16x4_t parts_[kParts];
};

#else

inline constexpr size_t kBytes = 64;
struct Bytes {
  uint8x16_t part[4];
};

class ByteTable {
 public:
  MACE_SIMD_INLINE ByteTable Load(const uint8_t *table) {
    ByteTable t;
    t.table_ = table;
    return t;
  }

  // An eighth of the table is in registers at a time. An index outside of it
  // leaves what was found before.
  __attribute__((always_inline)) Bytes At(Bytes index) const {
    Bytes y{};
    const uint8_t *eighth = table_;
#pragma clang loop unroll(disable)
    for (int i = 0; i < 8; ++i, eighth += 32) {
      const uint8x8x4_t values = vld1_u8_x4(eighth);
#pragma clang loop unroll(full)
      for (int v = 0; v < 4; ++v) {
        y.part[v] = vcombine_u8(vtbx4_u8(vget_low_u8(y.part[v]), values,
                                         vget_low_u8(index.part[v])),
                                vtbx4_u8(vget_high_u8(y.part[v]), values,
                                         vget_high_u8(index.part[v])));
        index.part[v] -= 32;
      }
    }
    return y;
  }

 private:
  const uint8_t *table_;
};

#endif

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_TABLE_H_
