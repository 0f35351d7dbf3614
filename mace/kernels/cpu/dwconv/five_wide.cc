// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Links the code for 5 wide filters and float images.

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::dwconv {

MACE_DECLARE_TABLES(BASE, FiveWideKernels, kFiveWide)

namespace {

const FiveWideKernels *F32(CpuIsa isa) {
  return MACE_FIND_TABLE(BASE, isa, kFiveWide);
}

constexpr FiveWidePart kPart = {&F32};

const OptionalKernels<FiveWidePart> registration(&kPart);

}  // namespace
}  // namespace mace::dwconv
