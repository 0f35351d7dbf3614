// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers an arithmetic if this file is linked. Compiled once for each
// arithmetic (BUILD.bazel), with the macros
//   MACE_ARITHMETIC_KIND    of ArithmeticKind
//   MACE_ARITHMETIC_TABLES  which instruction sets have one (isa_table.h)
//   MACE_ARITHMETIC_TABLE   its name in their namespaces

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

// An additional macro level, so that the names above are replaced.
#define MACE_DECLARE_ARITHMETICS(tables, table) \
  MACE_DECLARE_TABLES(tables, Arithmetic, table)
#define MACE_FIND_ARITHMETIC(tables, isa, table) \
  MACE_FIND_TABLE(tables, isa, table)

namespace mace::gemm {

MACE_DECLARE_ARITHMETICS(MACE_ARITHMETIC_TABLES, MACE_ARITHMETIC_TABLE)

namespace {

using Part = LinkedArithmetic<ArithmeticKind::MACE_ARITHMETIC_KIND>;

constexpr Part kPart = {[](CpuIsa isa) -> const Arithmetic * {
  return MACE_FIND_ARITHMETIC(MACE_ARITHMETIC_TABLES, isa,
                              MACE_ARITHMETIC_TABLE);
}};

const OptionalKernels<Part> registration(&kPart);

}  // namespace
}  // namespace mace::gemm
