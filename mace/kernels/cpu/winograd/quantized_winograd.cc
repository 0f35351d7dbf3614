// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/quantized_winograd.h"

namespace mace::winograd {

#if defined(__aarch64__) || defined(__arm__)
namespace neon {
extern const QuantizedKernels kQuantizedKernels;
}

const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa) {
#if defined(__aarch64__)
  if (isa == CpuIsa::neon_fp16) isa = CpuIsa::neon;
#endif
  return isa == CpuIsa::neon ? &neon::kQuantizedKernels : nullptr;
}
#elif defined(MACE_ONLY_AVX2) || defined(MACE_ONLY_SSE41)
const QuantizedKernels *QuantizedKernelsFor(CpuIsa /*isa*/) { return nullptr; }
#else
namespace sse41 {
extern const QuantizedKernels kQuantizedKernels;
}
namespace avx2 {
extern const QuantizedKernels kQuantizedKernels;
}

const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa) {
  if (isa == CpuIsa::sse41) return &sse41::kQuantizedKernels;
  return isa == CpuIsa::avx2 ? &avx2::kQuantizedKernels : nullptr;
}
#endif

}  // namespace mace::winograd
