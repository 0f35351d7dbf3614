// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/int8_gemm/int8_gemm.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::int8_gemm {

MACE_DECLARE_TABLES(BASE, Kernels, kKernels)
MACE_DECLARE_TABLES(INT8, Kernels, kKernels)

const Kernels *KernelsFor(CpuIsa isa) {
  const Kernels *own = MACE_FIND_TABLE(INT8, isa, kKernels);
  return own != nullptr ? own : MACE_FIND_TABLE(BASE, isa, kKernels);
}

}  // namespace mace::int8_gemm
