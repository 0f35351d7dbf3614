// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers the kernels for 16-bit activations if this file is linked.

#include <cstring>

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/kernels/cpu/optional_kernels.h"
#include "mace/kernels/cpu/pool/pool.h"

namespace mace {
namespace {

HalfTables Find(CpuIsa isa, Precision precision) {
  HalfTables tables;
  if (precision == Precision::kBfloat16) {
    tables.dwconv = dwconv::Bf16KernelsFor(isa);
    tables.pool = pool::Bf16KernelsFor(isa);
    return tables;
  }
  tables.dwconv = dwconv::Fp16KernelsFor(isa);
  tables.pool = pool::Fp16KernelsFor(isa);
  return tables;
}

template <gemm::ArithmeticKind kKind>
bool HasArithmetic(CpuIsa isa) {
  const auto *part = OptionalKernels<gemm::LinkedArithmetic<kKind>>::linked();
  return part != nullptr && part->find(isa) != nullptr;
}

bool Exist(const char *family, CpuIsa isa, Precision precision) {
  if (std::strcmp(family, "dwconv") == 0) {
    return Find(isa, precision).dwconv != nullptr;
  }
  if (std::strcmp(family, "pool") == 0) {
    return Find(isa, precision).pool != nullptr;
  }
  if (std::strcmp(family, "gemm") != 0) return false;
  return precision == Precision::kBfloat16
             ? HasArithmetic<gemm::ArithmeticKind::kBf16>(isa)
             : HasArithmetic<gemm::ArithmeticKind::kFp16>(isa);
}

constexpr HalfKernels kKernels = {&Find, &Exist};

const OptionalKernels<HalfKernels> registration(&kKernels);

}  // namespace
}  // namespace mace
