// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/pool/lines.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::pool {

MACE_DECLARE_TABLES(BASE, LineKernels, kLineKernels)

const LineKernels *LineKernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kLineKernels);
}

}  // namespace mace::pool
