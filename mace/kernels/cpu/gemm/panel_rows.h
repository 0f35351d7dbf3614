// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Packs four rows of 16 bytes into a step of a panel kI8Fours (gemm.h).
// Included only by the *_isa.cc files of this family.

#ifndef MACE_KERNELS_CPU_GEMM_PANEL_ROWS_H_
#define MACE_KERNELS_CPU_GEMM_PANEL_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/dot_tiles.h"

namespace mace::gemm::MACE_ISA {

// A row of a panel.
typedef uint8_t Row __attribute__((vector_size(kPanelColumns)));

// Columns beyond `columns` are zero.
MACE_SIMD_INLINE Row LoadRow(const uint8_t *from,
                             size_t columns,
                             uint8_t flip) {
  Row row = {};
  if (columns == kPanelColumns) {
    __builtin_memcpy(&row, from, sizeof(row));
    return row ^ flip;
  }
  for (size_t n = 0; n < columns; ++n) row[n] = from[n] ^ flip;
  return row;
}

// a[0] b[0] a[1] b[1] ...: of the first or the last eight elements.
#define MACE_INT8_ZIP(a, b, x)                                             \
  __builtin_shufflevector(a, b, (x), 16 + (x), (x) + 1, 17 + (x), (x) + 2, \
                          18 + (x), (x) + 3, 19 + (x), (x) + 4, 20 + (x),  \
                          (x) + 5, 21 + (x), (x) + 6, 22 + (x), (x) + 7,   \
                          23 + (x))

// Writes [16][4] of [4][16].
MACE_SIMD_INLINE void StoreFours(const Row (&rows)[sv::kDotFour], int8_t *to) {
  const Row low02 = MACE_INT8_ZIP(rows[0], rows[2], 0);
  const Row low13 = MACE_INT8_ZIP(rows[1], rows[3], 0);
  const Row high02 = MACE_INT8_ZIP(rows[0], rows[2], 8);
  const Row high13 = MACE_INT8_ZIP(rows[1], rows[3], 8);
  const Row fours[] = {
      MACE_INT8_ZIP(low02, low13, 0), MACE_INT8_ZIP(low02, low13, 8),
      MACE_INT8_ZIP(high02, high13, 0), MACE_INT8_ZIP(high02, high13, 8)};
  __builtin_memcpy(to, fours, sizeof(fours));
}
#undef MACE_INT8_ZIP

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_PANEL_ROWS_H_
