// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers the transforms of 16-bit images if this file is linked.

#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"
#include "mace/kernels/cpu/winograd/winograd.h"

namespace mace::winograd {

MACE_DECLARE_TABLES(FP16, Kernels, kKernels)
MACE_DECLARE_TABLES(BF16, Kernels, kKernels)

namespace {

const Kernels *LinkedKernelsFor(CpuIsa isa, gemm::Element image) {
  return image == gemm::Element::kF16 ? MACE_FIND_TABLE(FP16, isa, kKernels)
                                      : MACE_FIND_TABLE(BF16, isa, kKernels);
}

constexpr HalfPart kPart = {LinkedKernelsFor};

const OptionalKernels<HalfPart> registration(&kPart);

}  // namespace

}  // namespace mace::winograd
