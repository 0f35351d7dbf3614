// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/fp16_gemm.h"

namespace mace::gemm {

#define MACE_FP16_DECLARE(name, base)    \
  namespace name {                       \
  extern const Fp16Kernels kFp16Kernels; \
  }
MACE_FOR_EACH_FP16_EXTENSION(MACE_FP16_DECLARE)
#undef MACE_FP16_DECLARE

const Fp16Kernels *Fp16KernelsFor(CpuIsa isa) {
  (void)isa;  // where there is no extension
#define MACE_FP16_CASE(name, copy) \
  if (isa == CpuIsa::name) return &copy::kFp16Kernels;
  MACE_FOR_EACH_FP16_ISA(MACE_FP16_CASE)
#undef MACE_FP16_CASE
  return nullptr;
}

}  // namespace mace::gemm
