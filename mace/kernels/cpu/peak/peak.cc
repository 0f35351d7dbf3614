// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/peak/peak.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::peak {

MACE_DECLARE_TABLES(INT8_OR_BASE, Int8Kernels, kInt8Kernels)

const Int8Kernels *Int8KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(INT8_OR_BASE, isa, kInt8Kernels);
}

}  // namespace mace::peak
