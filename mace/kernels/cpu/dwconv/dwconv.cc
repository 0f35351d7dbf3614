// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/dwconv.h"

namespace mace::dwconv {

#define MACE_DWCONV_DECLARE(name) \
  namespace name {                \
  extern const Kernels kKernels;  \
  }
MACE_FOR_EACH_ISA(MACE_DWCONV_DECLARE)
#undef MACE_DWCONV_DECLARE

const Kernels *KernelsFor(CpuIsa isa) {
  switch (isa) {
#define MACE_DWCONV_CASE(name, base) \
  case CpuIsa::name:                 \
    return &base::kKernels;
    // NOLINTNEXTLINE(bugprone-branch-clone): extensions use their base.
    MACE_FOR_EACH_ISA_AND_BASE(MACE_DWCONV_CASE)
#undef MACE_DWCONV_CASE
    case CpuIsa::kNone:
      break;
  }
  return nullptr;
}

#define MACE_DWCONV_DECLARE(name, base) \
  namespace name {                      \
  extern const Kernels kKernels;        \
  }
MACE_FOR_EACH_FP16_EXTENSION(MACE_DWCONV_DECLARE)
#undef MACE_DWCONV_DECLARE

const Kernels *Fp16KernelsFor(CpuIsa isa) {
  (void)isa;  // where there is no extension
#define MACE_DWCONV_CASE(name, copy) \
  if (isa == CpuIsa::name) return &copy::kKernels;
  MACE_FOR_EACH_FP16_ISA(MACE_DWCONV_CASE)
#undef MACE_DWCONV_CASE
  return nullptr;
}

#if defined(__x86_64__)
namespace avx512_bf16 {
extern const Kernels kKernels;
}
#endif

const Kernels *Bf16KernelsFor(CpuIsa isa) {
#if defined(__x86_64__)
  if (HasBf16(isa)) return &avx512_bf16::kKernels;
#endif
  (void)isa;  // where there is no extension
  return nullptr;
}

}  // namespace mace::dwconv
