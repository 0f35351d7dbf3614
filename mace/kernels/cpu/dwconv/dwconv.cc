// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/dwconv.h"

namespace mace::dwconv {

#define MACE_DWCONV_DECLARE(name) \
  namespace name {                \
  extern const Kernels kKernels;  \
  }
MACE_FOR_EACH_ISA(MACE_DWCONV_DECLARE)
#undef MACE_DWCONV_DECLARE

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_DWCONV_CASE(name, base) \
  case CpuIsa::name:                 \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_DWCONV_CASE)
#undef MACE_DWCONV_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

size_t ScratchFloats(const Shape &shape, WeightType type) {
  if (type == WeightType::kF32) return 0;
  return static_cast<size_t>(shape.kernel_h * shape.kernel_w * shape.in_c *
                             shape.multiplier);
}

}  // namespace mace::dwconv
