// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

#define MACE_INT8_DECLARE(name)            \
  namespace name {                         \
  extern const Kernels kInt8WeightKernels; \
  }
MACE_FOR_EACH_ISA(MACE_INT8_DECLARE)
#undef MACE_INT8_DECLARE

namespace {

const Kernels *LinkedKernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_INT8_CASE(name, base) \
  case CpuIsa::name:               \
    return &base::kInt8WeightKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_INT8_CASE)
#undef MACE_INT8_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

const Int8WeightRegistration registration(LinkedKernelsFor);

}  // namespace

}  // namespace mace::gemm
