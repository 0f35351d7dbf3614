// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/peak/peak.h"

namespace mace::peak {

#define MACE_PEAK_TABLE(name)    \
  namespace name {               \
  extern const Kernels kKernels; \
  }
MACE_FOR_EACH_ISA(MACE_PEAK_TABLE)
#undef MACE_PEAK_TABLE

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_PEAK_CASE(name, base) \
  case CpuIsa::name:               \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_PEAK_CASE)
#undef MACE_PEAK_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

}  // namespace mace::peak
