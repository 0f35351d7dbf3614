// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/half_gemm.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(BF16_AND_AMX, HalfKernels, kBf16Kernels)

const HalfKernels *HalfKernelsFor(CpuIsa isa, WeightType weights) {
  if (weights != WeightType::kBf16Pairs) return nullptr;
  isa = PermittedIsa(isa);
  return MACE_FIND_TABLE(BF16_AND_AMX, isa, kBf16Kernels);
}

}  // namespace mace::gemm
