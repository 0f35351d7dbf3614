// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/norm/row_norm.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::norm {

MACE_DECLARE_TABLES(BASE, RowKernels, kRowKernels)

const RowKernels *RowKernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kRowKernels);
}

}  // namespace mace::norm
