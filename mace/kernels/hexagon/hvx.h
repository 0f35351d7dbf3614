// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors of HVX: 128 bytes, which are 32 words or 128 bytes.

#ifndef MACE_KERNELS_HEXAGON_HVX_H_
#define MACE_KERNELS_HEXAGON_HVX_H_

#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <stdint.h>

namespace mace::hexagon {

constexpr int kVectorBytes = 128;
constexpr int kVectorWords = kVectorBytes / 4;

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

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_HVX_H_
