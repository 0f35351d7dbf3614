// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/half_gemm.h"

namespace mace::gemm {

#define MACE_BF16_DECLARE(name, base)    \
  namespace name {                       \
  extern const HalfKernels kBf16Kernels; \
  }
MACE_FOR_EACH_BF16_EXTENSION(MACE_BF16_DECLARE)
#undef MACE_BF16_DECLARE

const HalfKernels *HalfKernelsFor(CpuIsa isa, WeightType weights) {
  if (weights == WeightType::kBf16Pairs) isa = PermittedIsa(isa);
#define MACE_BF16_CASE(name, base)                                \
  if (isa == CpuIsa::name && weights == WeightType::kBf16Pairs) { \
    return &name::kBf16Kernels;                                   \
  }
  MACE_FOR_EACH_BF16_EXTENSION(MACE_BF16_CASE)
#undef MACE_BF16_CASE
  (void)isa;  // where there is no extension
  return nullptr;
}

}  // namespace mace::gemm
