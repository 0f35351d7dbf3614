// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers what computes by Winograd's method, by being linked.

#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::winograd {

#define MACE_WINOGRAD_DECLARE(name) \
  namespace name {                  \
  extern const Kernels kKernels;    \
  }
MACE_FOR_EACH_ISA(MACE_WINOGRAD_DECLARE)
#undef MACE_WINOGRAD_DECLARE

namespace {

const Kernels *LinkedKernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_WINOGRAD_CASE(name, base) \
  case CpuIsa::name:                   \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_WINOGRAD_CASE)
#undef MACE_WINOGRAD_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

constexpr Part kPart = {LinkedKernelsFor, PlanConv, FilterElements,
                        RunConvTask,      Regions,  RegionOf};

const Registration registration(&kPart);

}  // namespace

}  // namespace mace::winograd
