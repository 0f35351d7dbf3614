// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Links the code for filters 5 wide, on images of 16 bits.

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::dwconv {

MACE_DECLARE_TABLES(FP16, FiveWideKernels, kFiveWide)
MACE_DECLARE_TABLES(BF16, FiveWideKernels, kFiveWide)

namespace {

const FiveWideKernels *Find(const Kernels *kernels) {
#define MACE_ISA_VALUE(name, base) CpuIsa::name,
  constexpr CpuIsa kIsas[] = {MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_VALUE)};
#undef MACE_ISA_VALUE
  for (CpuIsa isa : kIsas) {
    if (kernels == Fp16KernelsFor(isa)) {
      return MACE_FIND_TABLE(FP16, isa, kFiveWide);
    }
    if (kernels == Bf16KernelsFor(isa)) {
      return MACE_FIND_TABLE(BF16, isa, kFiveWide);
    }
  }
  return nullptr;
}

constexpr HalfFiveWidePart kPart = {&Find};

const OptionalKernels<HalfFiveWidePart> registration(&kPart);

}  // namespace
}  // namespace mace::dwconv
