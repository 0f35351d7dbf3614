// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// bf16 images with the same function names as in simd.h, for kernels that are
// compiled for several types (simd_element.h): loads widen, stores narrow, and
// all computation is in float. For extensions of an ISA that narrow in one
// instruction (avx512_bf16). simd.h's conventions apply; subnormal numbers are
// stored as 0.

#ifndef MACE_KERNELS_CPU_SIMD_BF16_H_
#define MACE_KERNELS_CPU_SIMD_BF16_H_

#include "mace/kernels/cpu/simd.h"

#if !defined(__AVX512BF16__)
#error "this ISA has no conversion to bf16"
#endif

namespace mace::simd::MACE_ISA::brain {

using Element = uint16_t;
using Weight = float;
using simd::MACE_ISA::AddSums;
using simd::MACE_ISA::AddTo;
using simd::MACE_ISA::Advance;
using simd::MACE_ISA::Clamp;
using simd::MACE_ISA::Fma;
using simd::MACE_ISA::kGeneralRegisters;
using simd::MACE_ISA::kLanes;
using simd::MACE_ISA::kLoadsStep;
using simd::MACE_ISA::kMaxKeepsNan;
using simd::MACE_ISA::kRegisters;
using simd::MACE_ISA::LoadBf16N;
using simd::MACE_ISA::LoadF16N;
using simd::MACE_ISA::LoadF32;
using simd::MACE_ISA::LoadF32N;
using simd::MACE_ISA::LoadWeight;
using simd::MACE_ISA::LoadWeightN;
using simd::MACE_ISA::Max;
using simd::MACE_ISA::Min;
using simd::MACE_ISA::Opaque;
using simd::MACE_ISA::Quotient;
using simd::MACE_ISA::Select;
using simd::MACE_ISA::Set;
using simd::MACE_ISA::StoreWeight;
using simd::MACE_ISA::StoreWeightN;
using simd::MACE_ISA::Sum;
using simd::MACE_ISA::V;
using simd::MACE_ISA::VI;
using simd::MACE_ISA::Zero;
using simd::MACE_ISA::ZeroSum;

MACE_SIMD_INLINE V SetElement(const Element *p) {
  return AsFloat(VU{} + (static_cast<uint32_t>(*p) << 16));
}
MACE_SIMD_INLINE V Load(const Element *p) { return LoadBf16(p); }
MACE_SIMD_INLINE V LoadN(const Element *p, int n) { return LoadBf16N(p, n); }
MACE_SIMD_INLINE void Store(Element *p, V v) {
  StoreHalfBits(p, NarrowBf16Fast(v));
}
MACE_SIMD_INLINE void StoreN(Element *p, V v, int n) {
  StoreHalfBitsN(p, NarrowBf16Fast(v), n);
}
MACE_SIMD_INLINE void StoreRounded(Element *p, V v) { Store(p, v); }

}  // namespace mace::simd::MACE_ISA::brain

#endif  // MACE_KERNELS_CPU_SIMD_BF16_H_
