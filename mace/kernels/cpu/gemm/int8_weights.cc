// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers arithmetic of weights of 8 bits, by being linked.

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(BASE, Arithmetic, kInt8WeightArithmetic)

namespace {

using Part = LinkedArithmetic<ArithmeticKind::kInt8Weights>;

constexpr Part kPart = {[](CpuIsa isa) -> const Arithmetic * {
  return MACE_FIND_TABLE(BASE, isa, kInt8WeightArithmetic);
}};

const OptionalKernels<Part> registration(&kPart);

}  // namespace
}  // namespace mace::gemm
