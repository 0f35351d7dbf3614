// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/half_arithmetic.h"

#include "mace/kernels/cpu/optional_kernels.h"

namespace mace {

HalfTables HalfTablesFor(CpuIsa isa, Precision precision) {
  const HalfKernels *linked = OptionalKernels<HalfKernels>::linked();
  if (linked == nullptr || precision == Precision::kFloat32) {
    return HalfTables();
  }
  return linked->find(isa, precision);
}

bool HalfKernelsExist(const char *family, CpuIsa isa, Precision precision) {
  const HalfKernels *linked = OptionalKernels<HalfKernels>::linked();
  return linked != nullptr && precision != Precision::kFloat32 &&
         linked->exist(family, isa, precision);
}

bool HalfKernelsAreLinked() {
  return OptionalKernels<HalfKernels>::linked() != nullptr;
}

}  // namespace mace
