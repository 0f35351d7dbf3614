// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/int8_gemm/int8_gemm.h"

namespace mace::int8_gemm {

#define MACE_INT8_DECLARE(name)  \
  namespace name {               \
  extern const Kernels kKernels; \
  }
MACE_FOR_EACH_ISA(MACE_INT8_DECLARE)
#undef MACE_INT8_DECLARE
#define MACE_INT8_DECLARE(name, base) \
  namespace name {                    \
  extern const Kernels kKernels;      \
  }
MACE_FOR_EACH_INT8_EXTENSION(MACE_INT8_DECLARE)
#undef MACE_INT8_DECLARE

const Kernels *KernelsFor(CpuIsa isa) {
#define MACE_INT8_CASE(name, copy) \
  if (isa == CpuIsa::name) return &copy::kKernels;
  MACE_FOR_EACH_INT8_ISA(MACE_INT8_CASE)
  // What is left runs the copy of its base.
  MACE_FOR_EACH_ISA_AND_BASE(MACE_INT8_CASE)
#undef MACE_INT8_CASE
  return nullptr;
}

}  // namespace mace::int8_gemm
