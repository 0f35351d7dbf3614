// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/isa_table.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(BASE, Kernels, kInt8WeightKernels)

namespace {

const Kernels *LinkedKernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kInt8WeightKernels);
}

const Int8WeightRegistration registration(LinkedKernelsFor);

}  // namespace

}  // namespace mace::gemm
