// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/activation/activation.h"

namespace mace::activation {

#define MACE_ACTIVATION_DECLARE(name) \
  namespace name {                    \
  extern const Kernels kKernels;      \
  }
MACE_FOR_EACH_ISA(MACE_ACTIVATION_DECLARE)
#undef MACE_ACTIVATION_DECLARE

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_ACTIVATION_CASE(name, base) \
  case CpuIsa::name:                     \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_ACTIVATION_CASE)
#undef MACE_ACTIVATION_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

}  // namespace mace::activation
