// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/resize/resize.h"

namespace mace::resize {

#define MACE_RESIZE_DECLARE(name) \
  namespace name {                \
  extern const Kernels kKernels;  \
  }
MACE_FOR_EACH_ISA(MACE_RESIZE_DECLARE)
#undef MACE_RESIZE_DECLARE

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_RESIZE_CASE(name, base) \
  case CpuIsa::name:                 \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_RESIZE_CASE)
#undef MACE_RESIZE_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

}  // namespace mace::resize
