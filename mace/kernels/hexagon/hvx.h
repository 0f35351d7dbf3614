// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors of HVX: 128 bytes, which are 32 words or 128 bytes.

#ifndef MACE_KERNELS_HEXAGON_HVX_H_
#define MACE_KERNELS_HEXAGON_HVX_H_

#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <stdint.h>

#include "mace/kernels/hexagon/packing.h"

namespace mace::hexagon {

using Vector = HVX_Vector;
using Pair = HVX_VectorPair;
// A bit for each byte of a vector.
using Mask = HVX_VectorPred;

inline Vector Load(const void *aligned) {
  return *static_cast<const Vector *>(aligned);
}
inline void Store(Vector v, void *aligned) {
  *static_cast<Vector *>(aligned) = v;
}
inline Vector Words(int32_t word) { return Q6_V_vsplat_R(word); }

constexpr int32_t kEachByte = 0x01010101;

// Any address.
struct __attribute__((packed, aligned(1))) Unaligned {
  Vector vector;
};
inline Vector LoadUnaligned(const int8_t *from) {
  return reinterpret_cast<const Unaligned *>(from)->vector;
}
inline void StoreUnaligned(Vector v, int8_t *to) {
  reinterpret_cast<Unaligned *>(to)->vector = v;
}

// The first bytes of a vector, 1 to 128.
inline void StoreFirst(Vector v, int8_t *to, int count) {
  const int shift =
      static_cast<int>(reinterpret_cast<uintptr_t>(to) & (kVectorBytes - 1));
  auto *first = reinterpret_cast<Vector *>(to - shift);
  const Vector turned = Q6_V_vror_VR(v, kVectorBytes - shift);
  const int end = shift + count;
  // Bytes from `shift` on; vsetq(0) is none.
  const Mask before = Q6_Q_vsetq_R(shift);
  if (end <= kVectorBytes) {
    Mask mask = Q6_Q_vsetq2_R(end);
    mask = Q6_Q_and_QQn(mask, before);
    Q6_vmem_QRIV(mask, first, turned);
    return;
  }
  Q6_vmem_QnRIV(before, first, turned);
  Q6_vmem_QRIV(Q6_Q_vsetq2_R(end - kVectorBytes), first + 1, turned);
}

// The sum of all words, in every word.
inline Vector SumOfWords(Vector v) {
  for (int bytes = kVectorBytes / 2; bytes >= 4; bytes /= 2) {
    v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, bytes));
  }
  return v;
}

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_HVX_H_
