// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Defines the vectors of each instruction set, and constants. Include simd.h,
// which states the conventions.

#ifndef MACE_KERNELS_CPU_SIMD_VECTOR_H_
#define MACE_KERNELS_CPU_SIMD_VECTOR_H_

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

#ifndef MACE_ISA
#error "build kernel sources by mace_isa_library, which defines MACE_ISA"
#endif

#define MACE_SIMD_INLINE static inline __attribute__((always_inline))

// Vectors wider than a register (VD) are arguments only of functions that are
// always inlined, so the calling convention does not matter.
#pragma clang diagnostic ignored "-Wpsabi"

namespace mace::simd::MACE_ISA {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
inline constexpr int kRegisters = 32;
inline constexpr bool kCheapMasks = true;  // LoadN and StoreN cost a move
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
inline constexpr int kRegisters = 16;
inline constexpr bool kCheapMasks = false;
#elif defined(__aarch64__)
inline constexpr int kLanes = 4;
inline constexpr int kRegisters = 32;
inline constexpr bool kCheapMasks = false;
#else
inline constexpr int kLanes = 4;
inline constexpr int kRegisters = 16;
inline constexpr bool kCheapMasks = false;
#endif

// Registers for pointers and offsets.
#if defined(__aarch64__)
inline constexpr int kGeneralRegisters = 31;
#elif defined(__x86_64__)
inline constexpr int kGeneralRegisters = 16;
#else
inline constexpr int kGeneralRegisters = 14;
#endif

// Whether Max and Min return a NaN in either argument.
#if defined(__ARM_NEON)
inline constexpr bool kMaxKeepsNan = true;
#else
inline constexpr bool kMaxKeepsNan = false;
#endif

// The type that kernels which are compiled for several types (simd_element.h)
// read and write.
using Element = float;
using Weight = float;
typedef float V __attribute__((vector_size(kLanes * 4)));
typedef int32_t VI __attribute__((vector_size(kLanes * 4)));
typedef uint32_t VU __attribute__((vector_size(kLanes * 4)));
typedef uint16_t VH
    __attribute__((vector_size(kLanes * 2)));  // fp16, bf16 bits
// An instruction of the register's size, and its type for integers.
#if defined(__AVX512F__)
#define MACE_X86(name, ...) _mm512_##name(__VA_ARGS__)
using X86Vector = __m512i;
#elif defined(__AVX2__)
#define MACE_X86(name, ...) _mm256_##name(__VA_ARGS__)
using X86Vector = __m256i;
#elif defined(__SSE4_1__)
#define MACE_X86(name, ...) _mm_##name(__VA_ARGS__)
using X86Vector = __m128i;
#endif
typedef int8_t VI8 __attribute__((vector_size(kLanes)));
typedef uint8_t VU8 __attribute__((vector_size(kLanes)));

// ---- bits, constants -------------------------------------------------------

MACE_SIMD_INLINE VI AsInt(V x) { return reinterpret_cast<VI>(x); }
MACE_SIMD_INLINE VU AsUint(V x) { return reinterpret_cast<VU>(x); }
MACE_SIMD_INLINE V AsFloat(VI x) { return reinterpret_cast<V>(x); }
MACE_SIMD_INLINE V AsFloat(VU x) { return reinterpret_cast<V>(x); }

// Not V{} + x: the compiler must keep such an addition, which turns -0 into 0.
MACE_SIMD_INLINE V Set(float x) {
#if defined(__SSE4_1__)
  return MACE_X86(set1_ps, x);
#else
  return vdupq_n_f32(x);
#endif
}
// The element at p in every lane.
MACE_SIMD_INLINE V SetElement(const Element *p) { return Set(*p); }
MACE_SIMD_INLINE VI SetInt(int32_t x) { return VI{} + x; }
MACE_SIMD_INLINE V Zero() { return V{}; }
// 0, 1, 2, ... per lane.
MACE_SIMD_INLINE VI Iota() {
  VI v;
  for (int i = 0; i < kLanes; ++i) v[i] = i;
  return v;
}

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_VECTOR_H_
