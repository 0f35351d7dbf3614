// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of two computed matrices of bytes (docs/reference/quantization.md):
//
//   a[m, n] = sum over k of (p[m, k] - zp) * (q[k, n] - zq)
//   y[m, n] = clamp(round(float32(a[m, n]) * multiplier) + zero)
//
// As in products.h, `vrmpy` multiplies signed bytes of a register by unsigned
// ones u = q + 128 of a vector. With z = zq + 128:
//
//   a = (sum of p * u) - z * (sum of p) - zp * (sum of u) + K * zp * z

#ifndef MACE_KERNELS_HEXAGON_MATRICES_H_
#define MACE_KERNELS_HEXAGON_MATRICES_H_

#include "mace/kernels/hexagon/packing.h"
#include "mace/kernels/hexagon/scaled.h"

namespace mace::hexagon {

// Columns that become PackedMatrixBytes at a multiple of 128. What is behind a
// row may be read as far as kSlackBytes.
struct MatrixColumns {
  const int8_t *q;
  int step;            // bytes from a row to the next one
  bool is_transposed;  // rows are those of q's transpose, at multiples of 4
  int depth;
  int columns;
  int8_t *packed;

  // Parts begin at multiples of it. Those of the transpose are groups, as most
  // of their time is spent on single words.
  int unit() const { return is_transposed ? kVectorWords : kBlockChannels; }
};

// Packs columns from `begin` to `end`. Threads may pack parts at the same time.
void PackColumns(const MatrixColumns &matrix, int begin, int end);

struct MatrixProduct {
  const int8_t *packed;
  int depth;
  int columns;
  int p_step;  // bytes from a row to the next one, a multiple of 4
  int y_step;
  int32_t p_zero;
  int32_t q_zero;
  float multiplier;  // IsMultiplier
  ByteRange range;
};

// Computes `rows` rows, of which only the columns are written. `p` is a
// multiple of 4; behind a row of it, bytes up to the next multiple of 4 may be
// read, and have any value.
void MultiplyRows(const MatrixProduct &product,
                  const int8_t *p,
                  int rows,
                  int8_t *y);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_MATRICES_H_
