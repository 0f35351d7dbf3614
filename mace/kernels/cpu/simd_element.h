// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// For kernel sources that are compiled for float elements and, with the
// extensions "fp16" and "bf16" (MACE_ELEMENT_F16 or MACE_ELEMENT_BF16 is
// defined), again for these types. Vectors of the element are in
// simd::MACE_ISA::element, with the names of simd.h. Images are read and
// written as Element, converted filters as Weight; everything else is float.
// Intermediate values that a method stores have the type of
// simd::MACE_ISA::kept: fp16 for fp16 images, otherwise float.

#ifndef MACE_KERNELS_CPU_SIMD_ELEMENT_H_
#define MACE_KERNELS_CPU_SIMD_ELEMENT_H_

#include "mace/kernels/cpu/simd.h"

#if defined(MACE_ELEMENT_F16)
#include "mace/kernels/cpu/simd_fp16.h"
namespace mace::simd::MACE_ISA {
namespace element = half;
namespace kept = half;
}  // namespace mace::simd::MACE_ISA
#elif defined(MACE_ELEMENT_BF16)
#include "mace/kernels/cpu/simd_bf16.h"
namespace mace::simd::MACE_ISA {
namespace element = brain;
namespace kept = ::mace::simd::MACE_ISA;
}  // namespace mace::simd::MACE_ISA
#else
namespace mace::simd::MACE_ISA {
namespace element = ::mace::simd::MACE_ISA;
namespace kept = ::mace::simd::MACE_ISA;
}  // namespace mace::simd::MACE_ISA
#endif

#endif  // MACE_KERNELS_CPU_SIMD_ELEMENT_H_
