// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

#define MACE_GEMM_DECLARE(name)  \
  namespace name {               \
  extern const Kernels kKernels; \
  }
MACE_FOR_EACH_ISA(MACE_GEMM_DECLARE)
#undef MACE_GEMM_DECLARE

namespace {

const Kernels *(*int8_weight_kernels)(CpuIsa) = nullptr;

}  // namespace

Int8WeightRegistration::Int8WeightRegistration(
    const Kernels *(*kernels_for)(CpuIsa)) {
  int8_weight_kernels = kernels_for;
}

const Kernels *Int8WeightKernelsFor(CpuIsa isa) {
  return int8_weight_kernels == nullptr ? nullptr : int8_weight_kernels(isa);
}

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_GEMM_CASE(name, base) \
  case CpuIsa::name:               \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_GEMM_CASE)
#undef MACE_GEMM_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

}  // namespace mace::gemm
