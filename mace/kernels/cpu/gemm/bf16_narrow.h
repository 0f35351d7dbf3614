// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic::narrow, narrow_padded and widen_row for bf16. Included only by
// the *_isa.cc files of this family.

#ifndef MACE_KERNELS_CPU_GEMM_BF16_NARROW_H_
#define MACE_KERNELS_CPU_GEMM_BF16_NARROW_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

namespace sv = simd::MACE_ISA;

[[maybe_unused]] static void Narrow(const float *from,
                                    uint16_t *to,
                                    size_t count) {
  size_t i = 0;
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::StoreHalfBits(to + i, sv::NarrowBf16Fast(sv::Load(from + i)));
  }
  const int rest = static_cast<int>(count - i);
  if (rest > 0) {
    sv::StoreHalfBitsN(to + i, sv::NarrowBf16Fast(sv::LoadN(from + i, rest)),
                       rest);
  }
}

[[maybe_unused]] static void WidenRow(const uint16_t *from,
                                      float *to,
                                      size_t count) {
  size_t i = 0;
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::Store(to + i, sv::LoadBf16(from + i));
  }
  const int rest = static_cast<int>(count - i);
  if (rest > 0) sv::StoreN(to + i, sv::LoadBf16N(from + i, rest), rest);
}

[[maybe_unused]] static void NarrowPadded(const float *from,
                                          uint16_t *to,
                                          size_t runs,
                                          size_t count) {
  // Four pixels of three channels at a time, as in photos.
  if (count == 3) {
    for (; runs >= 4; runs -= 4, from += 12, to += 16) {
      const sv::V four = sv::SpreadThrees(sv::LoadN(from, 12));
      sv::StoreHalfBits(to, sv::NarrowBf16Fast(four));
    }
  }
  for (; runs > 0; --runs, from += count, to += count + 1) {
    Narrow(from, to, count);
    to[count] = 0;
  }
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_BF16_NARROW_H_
