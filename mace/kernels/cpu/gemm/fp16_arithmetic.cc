// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers arithmetic of fp16, by being linked.

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(FP16, Arithmetic, kFp16Arithmetic)

namespace {

using Part = LinkedArithmetic<ArithmeticKind::kFp16>;

constexpr Part kPart = {[](CpuIsa isa) -> const Arithmetic * {
  return MACE_FIND_TABLE(FP16, isa, kFp16Arithmetic);
}};

const OptionalKernels<Part> registration(&kPart);

}  // namespace
}  // namespace mace::gemm
