// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/gemm.h"

#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::gemm {

MACE_DECLARE_TABLES(BASE, Arithmetic, kFloatArithmetic)

namespace {

template <ArithmeticKind kKind>
const Arithmetic *FindLinked(CpuIsa isa) {
  const auto *part = OptionalKernels<LinkedArithmetic<kKind>>::linked();
  return part == nullptr ? nullptr : part->find(isa);
}

}  // namespace

const Arithmetic *ArithmeticFor(ArithmeticKind kind, CpuIsa isa) {
  switch (kind) {
    case ArithmeticKind::kInt8Weights:
      return FindLinked<ArithmeticKind::kInt8Weights>(isa);
    case ArithmeticKind::kBf16:
      return FindLinked<ArithmeticKind::kBf16>(PermittedIsa(isa));
    case ArithmeticKind::kFp16:
      return FindLinked<ArithmeticKind::kFp16>(isa);
    case ArithmeticKind::kInt8:
      return FindLinked<ArithmeticKind::kInt8>(isa);
    case ArithmeticKind::kQuantized:
      return FindLinked<ArithmeticKind::kQuantized>(isa);
    case ArithmeticKind::kDynamic:
      return FindLinked<ArithmeticKind::kDynamic>(isa);
    case ArithmeticKind::kInt16:
      return FindLinked<ArithmeticKind::kInt16>(isa);
    case ArithmeticKind::kFloat:
      break;
  }
  return MACE_FIND_TABLE(BASE, isa, kFloatArithmetic);
}

}  // namespace mace::gemm
