// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/gemm.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(BASE, Kernels, kKernels)

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
  return MACE_FIND_TABLE(BASE, isa, kKernels);
}

}  // namespace mace::gemm
