// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/reduce/reduce.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::reduce {

MACE_DECLARE_TABLES(BASE, Kernels, kKernels)

const Kernels *KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kKernels);
}

}  // namespace mace::reduce
