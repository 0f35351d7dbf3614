// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic::narrow, narrow_padded and widen_row for bf16. Included only by
// the *_isa.cc files of this family.

#ifndef MACE_KERNELS_CPU_GEMM_BF16_NARROW_H_
#define MACE_KERNELS_CPU_GEMM_BF16_NARROW_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/bf16_rows.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

namespace sv = simd::MACE_ISA;

using simd::MACE_ISA::Narrow;
using simd::MACE_ISA::WidenRow;

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
