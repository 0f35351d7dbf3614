// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/pool/int16_pool.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::pool {

MACE_DECLARE_TABLES(BASE, Int16Kernels, kInt16Kernels)

const Int16Kernels *Int16KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kInt16Kernels);
}

}  // namespace mace::pool
