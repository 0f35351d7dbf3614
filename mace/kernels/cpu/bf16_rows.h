// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions of rows between float and bf16, with the instructions of
// processors that multiply bf16. Included only by *_isa.cc files and their
// headers.

#ifndef MACE_KERNELS_CPU_BF16_ROWS_H_
#define MACE_KERNELS_CPU_BF16_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd.h"

namespace mace::simd::MACE_ISA {

[[maybe_unused]] static void Narrow(const float *from,
                                    uint16_t *to,
                                    size_t count) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    StoreHalfBits(to + i, NarrowBf16Fast(Load(from + i)));
  }
  const int rest = static_cast<int>(count - i);
  if (rest > 0) {
    StoreHalfBitsN(to + i, NarrowBf16Fast(LoadN(from + i, rest)), rest);
  }
}

[[maybe_unused]] static void WidenRow(const uint16_t *from,
                                      float *to,
                                      size_t count) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Store(to + i, LoadBf16(from + i));
  }
  const int rest = static_cast<int>(count - i);
  if (rest > 0) StoreN(to + i, LoadBf16N(from + i, rest), rest);
}

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_BF16_ROWS_H_
