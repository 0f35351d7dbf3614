// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/few_rows.h"

namespace mace::gemm {

#define MACE_FEW_ROWS_DECLARE(name)            \
  namespace name {                             \
  extern const FewRowsKernels kFewRowsKernels; \
  }
MACE_FOR_EACH_ISA(MACE_FEW_ROWS_DECLARE)
#undef MACE_FEW_ROWS_DECLARE

const FewRowsKernels *FewRowsKernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_FEW_ROWS_CASE(name, base) \
  case CpuIsa::name:                   \
    return &base::kFewRowsKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_FEW_ROWS_CASE)
#undef MACE_FEW_ROWS_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

}  // namespace mace::gemm
