// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/reduce/reduce.h"

namespace mace::reduce {

#define MACE_REDUCE_DECLARE(name) \
  namespace name {                \
  extern const Kernels kKernels;  \
  }
MACE_FOR_EACH_ISA(MACE_REDUCE_DECLARE)
#undef MACE_REDUCE_DECLARE

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_REDUCE_CASE(name, base) \
  case CpuIsa::name:                 \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_REDUCE_CASE)
#undef MACE_REDUCE_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

}  // namespace mace::reduce
