// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/winograd.h"

namespace mace::winograd {

namespace {

const Kernels *(*linked_kernels)(CpuIsa) = nullptr;

}  // namespace

Registration::Registration(const Kernels *(*kernels_for)(CpuIsa)) {
  linked_kernels = kernels_for;
}

const Kernels *KernelsFor(CpuIsa isa) {
  return linked_kernels == nullptr ? nullptr : linked_kernels(isa);
}

#define MACE_WINOGRAD_DECLARE(name, base) \
  namespace name {                        \
  extern const Kernels kKernels;          \
  }
MACE_FOR_EACH_FP16_EXTENSION(MACE_WINOGRAD_DECLARE)
#undef MACE_WINOGRAD_DECLARE

const Kernels *HalfKernelsFor(CpuIsa isa) {
  (void)isa;  // where there is no extension
#define MACE_WINOGRAD_CASE(name, base) \
  if (isa == CpuIsa::name) return &name::kKernels;
  MACE_FOR_EACH_FP16_EXTENSION(MACE_WINOGRAD_CASE)
#undef MACE_WINOGRAD_CASE
  return nullptr;
}

}  // namespace mace::winograd
