// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers arithmetic of bf16, by being linked.

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(BF16_AND_AMX, Arithmetic, kBf16Arithmetic)

namespace {

using Part = LinkedArithmetic<ArithmeticKind::kBf16>;

constexpr Part kPart = {[](CpuIsa isa) -> const Arithmetic * {
  isa = PermittedIsa(isa);
  return MACE_FIND_TABLE(BF16_AND_AMX, isa, kBf16Arithmetic);
}};

const OptionalKernels<Part> registration(&kPart);

}  // namespace
}  // namespace mace::gemm
