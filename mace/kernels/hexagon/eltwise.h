// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums, products, and the larger or smaller of two rows of bytes
// (docs/reference/quantization.md):
//
//   kSum:      t = (a - za) * fa + (b - zb) * fb
//   kMax:      t = max((a - za) * fa, (b - zb) * fb);  kMin: min
//              y = clamp(floor((t + h) / 2^shift) + zero)
//   kProduct:  y = clamp(round(float32((a - za) * (b - zb)) * multiplier)
//                        + zero)
//
// where h is half of 2^shift, or 0 if shift is 0. Operands that are smaller
// than the result are repeated first (moves.h).

#ifndef MACE_KERNELS_HEXAGON_ELTWISE_H_
#define MACE_KERNELS_HEXAGON_ELTWISE_H_

#include "mace/kernels/hexagon/program/instructions.h"
#include "mace/kernels/hexagon/scaled.h"

namespace mace::hexagon {

struct Eltwise {
  EltwiseMode mode;
  // Not of kProduct; fb is negative for a difference.
  int32_t a_factor;
  int32_t b_factor;
  int32_t shift;
  float multiplier;  // of kProduct: a normal number above 0
  int8_t a_zero;
  int8_t b_zero;
  ByteRange range;
};

// Computes `count` bytes; only these are written. `y` may be `a` or `b`. Bytes
// behind those of the operands may be read as far as kSlackBytes.
void EltwiseRow(const Eltwise &eltwise,
                const int8_t *a,
                const int8_t *b,
                int count,
                int8_t *y);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_ELTWISE_H_
