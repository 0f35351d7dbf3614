// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Replaces each byte x by an entry of a table of 256 bytes:
//
//   y[r][c] = table[x[r][c]]             one
//   y[r][c] = table[256 * c + x[r][c]]   each: a table for each column

#ifndef MACE_KERNELS_CPU_LOOKUP_LOOKUP_H_
#define MACE_KERNELS_CPU_LOOKUP_LOOKUP_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::lookup {

struct Rows {
  size_t rows = 0;
  size_t columns = 0;
  // Bytes from row to row.
  size_t x_stride = 0;
  size_t y_stride = 0;
};

// y may equal x, if the strides are equal; otherwise they must not overlap.
using Function = void (*)(const uint8_t *table,
                          const Rows &rows,
                          const uint8_t *x,
                          uint8_t *y);
struct Kernels {
  Function one;
  Function each;
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::lookup

#endif  // MACE_KERNELS_CPU_LOOKUP_LOOKUP_H_
