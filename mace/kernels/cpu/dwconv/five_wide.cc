// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Links the code for filters 5 wide, on images of float.

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::dwconv {

MACE_DECLARE_TABLES(BASE, FiveWideKernels, kFiveWide)

namespace {

const FiveWideKernels *Find(const Kernels *kernels) {
#define MACE_ISA_VALUE(name, base) CpuIsa::name,
  constexpr CpuIsa kIsas[] = {MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_VALUE)};
#undef MACE_ISA_VALUE
  for (CpuIsa isa : kIsas) {
    if (kernels == KernelsFor(isa)) {
      return MACE_FIND_TABLE(BASE, isa, kFiveWide);
    }
  }
  return nullptr;
}

constexpr FiveWidePart kPart = {&Find};

const OptionalKernels<FiveWidePart> registration(&kPart);

}  // namespace
}  // namespace mace::dwconv
