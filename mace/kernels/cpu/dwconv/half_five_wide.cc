// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Links the code for 5 wide filters and 16-bit images.

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::dwconv {

MACE_DECLARE_TABLES(FP16, FiveWideKernels, kFiveWide)
MACE_DECLARE_TABLES(BF16, FiveWideKernels, kFiveWide)

namespace {

const FiveWideKernels *Fp16(CpuIsa isa) {
  return MACE_FIND_TABLE(FP16, isa, kFiveWide);
}

const FiveWideKernels *Bf16(CpuIsa isa) {
  return MACE_FIND_TABLE(BF16, isa, kFiveWide);
}

constexpr HalfFiveWidePart kPart = {&Fp16, &Bf16};

const OptionalKernels<HalfFiveWidePart> registration(&kPart);

}  // namespace
}  // namespace mace::dwconv
