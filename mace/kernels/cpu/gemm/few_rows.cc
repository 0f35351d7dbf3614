// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/few_rows.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(BASE, FewRowsKernels, kFewRowsKernels)

const FewRowsKernels *FewRowsKernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kFewRowsKernels);
}

}  // namespace mace::gemm
