// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers the kernels that compute in fp16, by being linked.

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/gemm/fp16_gemm.h"
#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/kernels/cpu/pool/pool.h"
#include "mace/kernels/cpu/winograd/winograd.h"

namespace mace {
namespace {

HalfTables Find(CpuIsa isa) {
  HalfTables tables;
  tables.dwconv = dwconv::HalfKernelsFor(isa);
  tables.gemm = gemm::Fp16KernelsFor(isa);
  tables.pool = pool::HalfKernelsFor(isa);
  tables.winograd = winograd::HalfKernelsFor(isa);
  return tables;
}

const HalfArithmetic registration(&Find);

}  // namespace
}  // namespace mace
