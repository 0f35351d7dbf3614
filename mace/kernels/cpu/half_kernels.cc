// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers the kernels for activations of 16 bits, by being linked.

#include "mace/kernels/cpu/dwconv/dwconv.h"
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

constexpr HalfKernels kKernels = {&Find};

const OptionalKernels<HalfKernels> registration(&kKernels);

}  // namespace
}  // namespace mace
