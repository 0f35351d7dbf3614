// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of bytes: tables of 256 results.

#ifndef MACE_KERNELS_HEXAGON_LOOKUP_H_
#define MACE_KERNELS_HEXAGON_LOOKUP_H_

#include "mace/kernels/hexagon/scaled.h"

namespace mace::hexagon {

constexpr int kTableEntries = 256;

// As `vlut32` reads it: entry i beside entry i + 64 of each half.
struct Table {
  Vector halves[2];
};

// The entries of two vectors.
inline Table MakeTable(Vector first, Vector second) {
  return {{Q6_Vb_vshuff_Vb(first), Q6_Vb_vshuff_Vb(second)}};
}
// `entries` has 256, at any address.
inline Table LoadTable(const int8_t *entries) {
  return MakeTable(LoadUnaligned(entries),
                   LoadUnaligned(entries + kVectorBytes));
}

// entries[x], of bytes x from 0 to 255.
__attribute__((always_inline)) inline Vector Lookup(const Table &table,
                                                    Vector x) {
  Vector y = Q6_Vb_vlut32_VbVbI(x, table.halves[0], 0);
  y = Q6_Vb_vlut32or_VbVbVbI(y, x, table.halves[0], 1);
  y = Q6_Vb_vlut32or_VbVbVbI(y, x, table.halves[0], 2);
  y = Q6_Vb_vlut32or_VbVbVbI(y, x, table.halves[0], 3);
  y = Q6_Vb_vlut32or_VbVbVbI(y, x, table.halves[1], 4);
  y = Q6_Vb_vlut32or_VbVbVbI(y, x, table.halves[1], 5);
  y = Q6_Vb_vlut32or_VbVbVbI(y, x, table.halves[1], 6);
  return Q6_Vb_vlut32or_VbVbVbI(y, x, table.halves[1], 7);
}

// y[i] = entries[x[i]], with x read as uint8; only `count` bytes are written.
// `y` may be `x`. Bytes behind those of `x` may be read as far as kSlackBytes.
void LookupRow(const int8_t *entries, const int8_t *x, int count, int8_t *y);

// The same with a table for each channel, [channels][256], of a pixel.
void LookupChannels(const int8_t *entries,
                    const int8_t *x,
                    int channels,
                    int8_t *y);

// Bit 7 of each byte the other way: uint8 to int8 and the reverse.
void FlipRow(const int8_t *x, int count, int8_t *y);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_LOOKUP_H_
