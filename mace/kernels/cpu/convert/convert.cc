// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/convert/convert.h"

#include "mace/kernels/cpu/isa_table.h"

namespace mace::convert {

MACE_DECLARE_TABLES(BF16, HalfKernels, kBf16Kernels)

// Small enough to be in every library.
const HalfKernels *Bf16ActivationsFor(CpuIsa isa) {
  const HalfKernels *found = MACE_FIND_TABLE(BF16, isa, kBf16Kernels);
  return found != nullptr ? found : &KernelsFor(isa)->bf16;
}

}  // namespace mace::convert
