// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Registers the transforms of fp16, by being linked.

#include "mace/kernels/cpu/winograd/winograd.h"

namespace mace::winograd {

#define MACE_WINOGRAD_DECLARE(name, base) \
  namespace name {                        \
  extern const Kernels kKernels;          \
  }
MACE_FOR_EACH_FP16_EXTENSION(MACE_WINOGRAD_DECLARE)
#undef MACE_WINOGRAD_DECLARE

namespace {

const Kernels *LinkedKernelsFor(CpuIsa isa) {
  (void)isa;  // where there is no extension
#define MACE_WINOGRAD_CASE(name, copy) \
  if (isa == CpuIsa::name) return &copy::kKernels;
  MACE_FOR_EACH_FP16_ISA(MACE_WINOGRAD_CASE)
#undef MACE_WINOGRAD_CASE
  return nullptr;
}

const HalfRegistration registration(LinkedKernelsFor);

}  // namespace

}  // namespace mace::winograd
