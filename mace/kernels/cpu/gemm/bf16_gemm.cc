// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/bf16_gemm.h"

namespace mace::gemm {

#define MACE_BF16_GEMM_DECLARE(name, base) \
  namespace name {                         \
  extern const Bf16Kernels kBf16Kernels;   \
  }
MACE_FOR_EACH_BF16_EXTENSION(MACE_BF16_GEMM_DECLARE)
#undef MACE_BF16_GEMM_DECLARE

const Bf16Kernels *Bf16KernelsFor(CpuIsa isa) {
#define MACE_BF16_GEMM_CASE(name, base) \
  if (isa == CpuIsa::name) return &name::kBf16Kernels;
  MACE_FOR_EACH_BF16_EXTENSION(MACE_BF16_GEMM_CASE)
#undef MACE_BF16_GEMM_CASE
  (void)isa;
  return nullptr;
}

}  // namespace mace::gemm
