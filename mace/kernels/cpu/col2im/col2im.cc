// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/col2im/col2im.h"

namespace mace::col2im {

#define MACE_COL2IM_DECLARE(name) \
  namespace name {                \
  extern const Kernels kKernels;  \
  }
MACE_FOR_EACH_ISA(MACE_COL2IM_DECLARE)
#undef MACE_COL2IM_DECLARE

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_COL2IM_CASE(name, base) \
  case CpuIsa::name:                 \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_COL2IM_CASE)
#undef MACE_COL2IM_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

}  // namespace mace::col2im
