// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/quantize/quantize.h"

namespace mace::quantize {

#define MACE_QUANTIZE_DECLARE(name) \
  namespace name {                  \
  extern const Kernels kKernels;    \
  }
MACE_FOR_EACH_ISA(MACE_QUANTIZE_DECLARE)
#undef MACE_QUANTIZE_DECLARE

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_QUANTIZE_CASE(name, base) \
  case CpuIsa::name:                   \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_QUANTIZE_CASE)
#undef MACE_QUANTIZE_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

}  // namespace mace::quantize
