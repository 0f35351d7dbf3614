// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/dwconv.h"

#include "mace/kernels/cpu/dwconv/pair_groups.h"
#include "mace/kernels/cpu/isa_table.h"
#include "mace/kernels/cpu/optional_kernels.h"

namespace mace::dwconv {

MACE_DECLARE_TABLES(BF16, Kernels, kPairGroupKernels)

const Kernels *PairGroupKernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(BF16, isa, kPairGroupKernels);
}

const FiveWideKernels *FiveWideKernelsFor(CpuIsa isa, gemm::Element element) {
  if (element == gemm::Element::kF32) {
    const FiveWidePart *part = OptionalKernels<FiveWidePart>::linked();
    return part == nullptr ? nullptr : part->f32(isa);
  }
  const HalfFiveWidePart *part = OptionalKernels<HalfFiveWidePart>::linked();
  if (part == nullptr) return nullptr;
  return element == gemm::Element::kF16 ? part->fp16(isa) : part->bf16(isa);
}

}  // namespace mace::dwconv
