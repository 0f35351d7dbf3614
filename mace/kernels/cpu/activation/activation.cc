// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/activation/activation.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::activation {

MACE_DECLARE_TABLES(BASE, Kernels, kKernels)
MACE_DECLARE_TABLES(BF16, Bf16Kernels, kBf16Kernels)

const Kernels *KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kKernels);
}

// Small enough to be in every library.
const Bf16Kernels *Bf16KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BF16, isa, kBf16Kernels);
}

}  // namespace mace::activation
