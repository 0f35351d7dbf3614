// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/isa_table.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(BASE, QuantizedPacking, kQuantizedPacking)

const QuantizedPacking *QuantizedPackingFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kQuantizedPacking);
}

}  // namespace mace::gemm
