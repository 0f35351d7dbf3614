// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/fp16_gemm.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(FP16, Fp16Kernels, kFp16Kernels)

const Fp16Kernels *Fp16KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(FP16, isa, kFp16Kernels);
}

}  // namespace mace::gemm
