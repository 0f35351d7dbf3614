// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/lookup/lookup.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_table.h"

namespace mace::lookup::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

void One(const uint8_t *table, const Rows &rows, const uint8_t *x, uint8_t *y) {
  const auto t = sv::ByteTable::Load(table);
  for (size_t r = 0; r < rows.rows; ++r) {
    const uint8_t *from = x + r * rows.x_stride;
    uint8_t *to = y + r * rows.y_stride;
    size_t i = 0;
    for (; i + sv::kBytes <= rows.columns; i += sv::kBytes) {
      sv::Bytes bytes;
      __builtin_memcpy(&bytes, from + i, sizeof(bytes));
      bytes = t.At(bytes);
      __builtin_memcpy(to + i, &bytes, sizeof(bytes));
    }
    for (; i < rows.columns; ++i) to[i] = table[from[i]];
  }
}

void Each(const uint8_t *table,
          const Rows &rows,
          const uint8_t *x,
          uint8_t *y) {
  for (size_t r = 0; r < rows.rows; ++r) {
    const uint8_t *from = x + r * rows.x_stride;
    uint8_t *to = y + r * rows.y_stride;
    for (size_t i = 0; i < rows.columns; ++i) {
      to[i] = table[256 * i + from[i]];
    }
  }
}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {&One, &Each};

}  // namespace mace::lookup::MACE_ISA
