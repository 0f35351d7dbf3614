// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/dwconv.h"

#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::dwconv {

MACE_DECLARE_TABLES(BASE, Kernels, kKernels)
MACE_DECLARE_TABLES(FP16, Kernels, kKernels)
MACE_DECLARE_TABLES(BF16, Kernels, kKernels)

const Kernels *KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kKernels);
}

const Kernels *Fp16KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(FP16, isa, kKernels);
}

const Kernels *Bf16KernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BF16, isa, kKernels);
}

const FiveWideKernels *FiveWideKernelsOf(const Kernels *kernels) {
  const FiveWidePart *part = OptionalKernels<FiveWidePart>::linked();
  const FiveWideKernels *found =
      part == nullptr ? nullptr : part->find(kernels);
  if (found != nullptr) return found;
  const HalfFiveWidePart *half = OptionalKernels<HalfFiveWidePart>::linked();
  return half == nullptr ? nullptr : half->find(kernels);
}

}  // namespace mace::dwconv
