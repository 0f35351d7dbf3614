// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/resize/quantized_resize.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::resize {

MACE_DECLARE_TABLES(BASE, QuantizedKernels, kQuantizedKernels)

const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kQuantizedKernels);
}

}  // namespace mace::resize
