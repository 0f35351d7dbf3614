// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers the code of Winograd's method if this file is linked.

#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"
#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::winograd {

MACE_DECLARE_TABLES(BASE, Kernels, kKernels)

namespace {

const Kernels *LinkedKernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kKernels);
}

constexpr Part kPart = {LinkedKernelsFor, PlanConv, FilterElements, RunConvTask,
                        RunOutputTask,    Regions,  RegionOf};

const OptionalKernels<Part> registration(&kPart);

}  // namespace

}  // namespace mace::winograd
