// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Vectors of float for CPU kernels: one spelling, every instruction set.
//
// Conventions
// - A kernel source includes this header, opens
//   `namespace mace::<family>::MACE_ISA`, says `namespace sv = simd::MACE_ISA;`
//   and is compiled once per ISA by `mace_isa_library`, which defines MACE_ISA
//   (a namespace name: sse41, avx2, avx512, neon).
// - Intrinsics live here only. Where the compiler's vector types already give
//   the right instruction (+ - * / & | ^ << >> == < ?:) kernels use these.
// - Everything is `MACE_SIMD_INLINE` (static, always inlined). A kernel source
//   must not call inline functions or templates of other headers (the standard
//   library's included): the linker merges such functions across ISAs, and a
//   processor without AVX-512 might be handed the AVX-512 copy. Freestanding
//   headers of types (<cstdint>, <cstddef>) are fine; so are libc functions,
//   which are not inline.
// - Loads and stores need the alignment of their element only.
// - "N" variants touch exactly n elements, 0 <= n <= kLanes; the other lanes
//   read as 0. They cost more than a full access: peel them out of loops.
// - A NaN in the data comes out as NaN: of Min, Max and Clamp it is the *first*
//   argument that is the data.
// - Comparison operators give VI lanes of 0 or -1, which Select takes.

#ifndef MACE_KERNELS_CPU_SIMD_H_
#define MACE_KERNELS_CPU_SIMD_H_

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

// Vectors wider than a register (VD) are arguments of functions that are all
// inlined: how they would be passed does not matter.
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

// Whether Max and Min give a NaN from either side.
#if defined(__ARM_NEON)
inline constexpr bool kMaxKeepsNan = true;
#else
inline constexpr bool kMaxKeepsNan = false;
#endif

// What kernels that exist for several types (simd_element.h) read and write.
using Element = float;
using Weight = float;
typedef float V __attribute__((vector_size(kLanes * 4)));
typedef int32_t VI __attribute__((vector_size(kLanes * 4)));
typedef uint32_t VU __attribute__((vector_size(kLanes * 4)));
typedef uint16_t VH
    __attribute__((vector_size(kLanes * 2)));  // fp16, bf16 bits
typedef int8_t VI8 __attribute__((vector_size(kLanes)));
typedef uint8_t VU8 __attribute__((vector_size(kLanes)));

// ---- bits, constants -------------------------------------------------------

MACE_SIMD_INLINE VI AsInt(V x) { return reinterpret_cast<VI>(x); }
MACE_SIMD_INLINE VU AsUint(V x) { return reinterpret_cast<VU>(x); }
MACE_SIMD_INLINE V AsFloat(VI x) { return reinterpret_cast<V>(x); }
MACE_SIMD_INLINE V AsFloat(VU x) { return reinterpret_cast<V>(x); }

// Not V{} + x: the compiler must keep that addition, which turns -0 into 0.
MACE_SIMD_INLINE V Set(float x) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(x);
#elif defined(__AVX2__)
  return _mm256_set1_ps(x);
#elif defined(__SSE4_1__)
  return _mm_set1_ps(x);
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

// ---- loads and stores ------------------------------------------------------

MACE_SIMD_INLINE V Load(const float *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE void Store(float *p, V v) {
  __builtin_memcpy(p, &v, sizeof(v));
}
// p + step, hidden from the optimiser: it then increments p where it loads
// rather than to compute an address for every load (arm64's loads of several
// vectors take no offset).
template <typename T>
MACE_SIMD_INLINE T *Advance(T *p, size_t step) {
  p += step;
#if defined(__aarch64__)
  __asm__("" : "+r"(p));
#endif
  return p;
}

// x, of whose value the optimiser knows nothing on arm64: it stays in a
// register rather than being computed anew from another one.
MACE_SIMD_INLINE ptrdiff_t Opaque(ptrdiff_t x) {
#if defined(__aarch64__)
  __asm__("" : "+r"(x));
#endif
  return x;
}

// Four adjacent vectors; one instruction where kLoadsFour.
#if defined(__aarch64__)
inline constexpr bool kLoadsFour = true;
#else
inline constexpr bool kLoadsFour = false;
#endif
MACE_SIMD_INLINE void LoadFour(const float *p, V (&v)[4]) {
#if defined(__aarch64__)
  const float32x4x4_t x = vld1q_f32_x4(p);
  v[0] = x.val[0];
  v[1] = x.val[1];
  v[2] = x.val[2];
  v[3] = x.val[3];
#else
  for (int i = 0; i < 4; ++i) v[i] = Load(p + i * kLanes);
#endif
}
MACE_SIMD_INLINE VI LoadInt(const int32_t *p) {
  VI v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE void StoreInt(int32_t *p, VI v) {
  __builtin_memcpy(p, &v, sizeof(v));
}

#if defined(__AVX512F__)
MACE_SIMD_INLINE __mmask16 FirstLanes(int n) {
  return static_cast<__mmask16>((1u << n) - 1u);
}
MACE_SIMD_INLINE V LoadN(const float *p, int n) {
  return _mm512_maskz_loadu_ps(FirstLanes(n), p);
}
MACE_SIMD_INLINE void StoreN(float *p, V v, int n) {
  _mm512_mask_storeu_ps(p, FirstLanes(n), v);
}
#elif defined(__AVX2__)
MACE_SIMD_INLINE __m256i FirstLanes(int n) {
  return reinterpret_cast<__m256i>(Iota() < SetInt(n));
}
MACE_SIMD_INLINE V LoadN(const float *p, int n) {
  return _mm256_maskload_ps(p, FirstLanes(n));
}
MACE_SIMD_INLINE void StoreN(float *p, V v, int n) {
  _mm256_maskstore_ps(p, FirstLanes(n), v);
}
#else
// Four lanes without masked moves: at most a pair and a single.
MACE_SIMD_INLINE V LoadN(const float *p, int n) {
  if (n >= 4) return Load(p);
  V v = Zero();
  if (n & 2) {
    v[0] = p[0];
    v[1] = p[1];
    if (n & 1) v[2] = p[2];
  } else if (n & 1) {
    v[0] = p[0];
  }
  return v;
}
MACE_SIMD_INLINE void StoreN(float *p, V v, int n) {
  if (n >= 4) {
    Store(p, v);
    return;
  }
  if (n & 2) {
    p[0] = v[0];
    p[1] = v[1];
    if (n & 1) p[2] = v[2];
  } else if (n & 1) {
    p[0] = v[0];
  }
}
#endif

// base[index[i]] per lane.
MACE_SIMD_INLINE V Gather(const float *base, VI index) {
#if defined(__AVX512F__)
  return _mm512_i32gather_ps(reinterpret_cast<__m512i>(index), base, 4);
#elif defined(__AVX2__)
  return _mm256_i32gather_ps(base, reinterpret_cast<__m256i>(index), 4);
#else
  V v;
  for (int i = 0; i < kLanes; ++i) v[i] = base[index[i]];
  return v;
#endif
}

// From floats, whatever Element is.
MACE_SIMD_INLINE V LoadF32(const float *p) { return Load(p); }
MACE_SIMD_INLINE V LoadF32N(const float *p, int n) { return LoadN(p, n); }
MACE_SIMD_INLINE V LoadWeight(const Weight *p) { return Load(p); }
MACE_SIMD_INLINE V LoadWeightN(const Weight *p, int n) { return LoadN(p, n); }
MACE_SIMD_INLINE void StoreWeight(Weight *p, V v) { Store(p, v); }
MACE_SIMD_INLINE void StoreWeightN(Weight *p, V v, int n) { StoreN(p, v, n); }
// A vector of floats as so many elements.
MACE_SIMD_INLINE void StoreRounded(Element *p, V v) { Store(p, v); }

// ---- cache -----------------------------------------------------------------

// Asks for the cache line at p, which need not be valid memory. Cores of ARM
// prefetch well by themselves, and the instruction would cost them more than it
// brings, so kPrefetch is false there and callers leave the code out.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool kPrefetch = true;
#else
inline constexpr bool kPrefetch = false;
#endif
MACE_SIMD_INLINE void PrefetchForReading(const void *p) {
  __builtin_prefetch(p, 0);
}
MACE_SIMD_INLINE void PrefetchForWriting(const void *p) {
  __builtin_prefetch(p, 1);
}

// ---- arithmetic ------------------------------------------------------------

// a * b + c; fused where the ISA has it (not on sse41). Kernels are compiled
// with -ffp-contract=fast, so this is the shape the compiler fuses.
MACE_SIMD_INLINE V Fma(V a, V b, V c) { return a * b + c; }

// acc + w * a[lane]; one instruction where kLaneFma, elsewhere a shuffle more.
#if defined(__ARM_NEON)
inline constexpr bool kLaneFma = true;
#else
inline constexpr bool kLaneFma = false;
#endif
template <int kLane>
MACE_SIMD_INLINE V FmaLane(V acc, V w, V a) {
#if defined(__AVX512F__)
  constexpr int l = kLane;
  return w * __builtin_shufflevector(a, a, l, l, l, l, l, l, l, l, l, l, l, l,
                                     l, l, l, l) +
         acc;
#elif defined(__AVX2__)
  constexpr int l = kLane;
  return w * __builtin_shufflevector(a, a, l, l, l, l, l, l, l, l) + acc;
#elif defined(__aarch64__)
  return vfmaq_laneq_f32(acc, w, a, kLane);
#elif defined(__arm__)
  // Armv7's fused form takes no lane; the chained vmla.f32 (two roundings) does
  // and needs no register for the broadcast. The compiler never picks it while
  // contraction is on. "t": lanes of q0 to q7 only.
  // Volatile keeps the order written: left free, it chains the sums and spills.
  if constexpr (kLane < 2) {
    __asm__ volatile("vmla.f32 %q0, %q1, %e2[%c3]"
                     : "+w"(acc)
                     : "w"(w), "t"(a), "i"(kLane));
  } else {
    __asm__ volatile("vmla.f32 %q0, %q1, %f2[%c3]"
                     : "+w"(acc)
                     : "w"(w), "t"(a), "i"(kLane - 2));
  }
  return acc;
#else
  return w * __builtin_shufflevector(a, a, kLane, kLane, kLane, kLane) + acc;
#endif
}

// m is a comparison's result.
#if __clang_major__ >= 11
MACE_SIMD_INLINE V Select(VI m, V yes, V no) { return m ? yes : no; }
MACE_SIMD_INLINE VI SelectInt(VI m, VI yes, VI no) { return m ? yes : no; }
#else  // NDK r21: no vectors before "?".
MACE_SIMD_INLINE VI SelectInt(VI m, VI yes, VI no) {
  return (m & yes) | (~m & no);
}
MACE_SIMD_INLINE V Select(VI m, V yes, V no) {
  return AsFloat(SelectInt(m, AsInt(yes), AsInt(no)));
}
#endif

// x86's min/max return the second operand when either is NaN; ARM's propagate.
MACE_SIMD_INLINE V Max(V x, V bound) {
#if defined(__AVX512F__)
  return _mm512_max_ps(bound, x);
#elif defined(__AVX2__)
  return _mm256_max_ps(bound, x);
#elif defined(__SSE4_1__)
  return _mm_max_ps(bound, x);
#else
  return vmaxq_f32(x, bound);
#endif
}
MACE_SIMD_INLINE V Min(V x, V bound) {
#if defined(__AVX512F__)
  return _mm512_min_ps(bound, x);
#elif defined(__AVX2__)
  return _mm256_min_ps(bound, x);
#elif defined(__SSE4_1__)
  return _mm_min_ps(bound, x);
#else
  return vminq_f32(x, bound);
#endif
}
MACE_SIMD_INLINE V Clamp(V x, V lo, V hi) { return Min(Max(x, lo), hi); }

MACE_SIMD_INLINE V Abs(V x) { return AsFloat(AsInt(x) & 0x7fffffff); }

// Intrinsics on arm64, for the clang of older Android NDKs: the builtins that
// take any vector came with clang 14 (rounding) and 17 (square root).
#if defined(__aarch64__)
MACE_SIMD_INLINE V Sqrt(V x) { return vsqrtq_f32(x); }
#elif defined(__arm__)
MACE_SIMD_INLINE V Sqrt(V x) {
  for (int i = 0; i < kLanes; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
}
#else
MACE_SIMD_INLINE V Sqrt(V x) { return __builtin_elementwise_sqrt(x); }
#endif

#if defined(__arm__)
// NEON of Armv7 has no rounding instructions. |x| >= 2^23 is integral already
// (this covers Inf and NaN); below, int32 holds it. -0 keeps its sign.
MACE_SIMD_INLINE V Truncate(V x) {
  const V t = __builtin_convertvector(__builtin_convertvector(x, VI), V);
  const V whole = AsFloat(AsInt(t) | (AsInt(x) & INT32_MIN));
  return Select(Abs(x) < Set(8388608.0f), whole, x);
}
MACE_SIMD_INLINE V Floor(V x) {
  const V t = Truncate(x);
  const V down = AsFloat(AsInt(t - 1.0f) | (AsInt(x) & INT32_MIN));
  return Select(t > x, down, t);
}
MACE_SIMD_INLINE V Ceil(V x) {
  const V t = Truncate(x);
  const V up = AsFloat(AsInt(t + 1.0f) | (AsInt(x) & INT32_MIN));
  return Select(t < x, up, t);
}
// Nearest, ties to even: adding 2^23 leaves no fraction bits to hold.
MACE_SIMD_INLINE V Round(V x) {
  const V magic = Set(8388608.0f);
  V m = Abs(x) + magic;
  __asm__("" : "+w"(m));  // keeps (a + b) - b from being simplified
  const V r = AsFloat(AsInt(m - magic) | (AsInt(x) & INT32_MIN));
  return Select(Abs(x) < magic, r, x);
}
#elif defined(__aarch64__)
MACE_SIMD_INLINE V Truncate(V x) { return vrndq_f32(x); }
MACE_SIMD_INLINE V Floor(V x) { return vrndmq_f32(x); }
MACE_SIMD_INLINE V Ceil(V x) { return vrndpq_f32(x); }
// Nearest, ties to even.
MACE_SIMD_INLINE V Round(V x) { return vrndnq_f32(x); }
#else
MACE_SIMD_INLINE V Truncate(V x) { return __builtin_elementwise_trunc(x); }
MACE_SIMD_INLINE V Floor(V x) { return __builtin_elementwise_floor(x); }
MACE_SIMD_INLINE V Ceil(V x) { return __builtin_elementwise_ceil(x); }
// Nearest, ties to even.
MACE_SIMD_INLINE V Round(V x) { return __builtin_elementwise_roundeven(x); }
#endif

// To int32, toward zero; |x| must be below 2^31. And back.
MACE_SIMD_INLINE VI ToInt(V x) { return __builtin_convertvector(x, VI); }
MACE_SIMD_INLINE V ToFloat(VI x) { return __builtin_convertvector(x, V); }

// y * 2^n for y in [0.5, 2) and integral n in [-252, 252], with one rounding
// where it is denormal. NaN in both gives NaN.
MACE_SIMD_INLINE V ScaleByPowerOfTwo(V y, V n) {
#if defined(__AVX512F__)
  return _mm512_scalef_ps(y, n);
#else
  // In two steps, since neither end of the range fits in one.
  const VI exponent = ToInt(Select(n != n, Zero(), n));
  const VI half = exponent >> 1;
  const VI rest = exponent - half;
  return y * AsFloat((half + 127) << 23) * AsFloat((rest + 127) << 23);
#endif
}

// ---- double ----------------------------------------------------------------
// For the few steps that need more than 24 bits. Armv7 has no vectors of it.

#if !defined(__arm__)
inline constexpr bool kHasDouble = true;
#else
inline constexpr bool kHasDouble = false;
#endif
typedef double VD __attribute__((vector_size(kLanes * 8)));
typedef int64_t VL __attribute__((vector_size(kLanes * 8)));

MACE_SIMD_INLINE VD ToDouble(V x) { return __builtin_convertvector(x, VD); }
MACE_SIMD_INLINE VD IntToDouble(VI x) { return __builtin_convertvector(x, VD); }
MACE_SIMD_INLINE V Narrow(VD x) { return __builtin_convertvector(x, V); }
MACE_SIMD_INLINE VD SetDouble(double x) {
  VD v;
  for (int i = 0; i < kLanes; ++i) v[i] = x;
  return v;
}
MACE_SIMD_INLINE VD FmaDouble(VD a, VD b, VD c) { return a * b + c; }
// m is a comparison's result.
MACE_SIMD_INLINE VD SelectDouble(VL m, VD yes, VD no) {
  return reinterpret_cast<VD>((m & reinterpret_cast<VL>(yes)) |
                              (~m & reinterpret_cast<VL>(no)));
}

// ---- across lanes ----------------------------------------------------------
// A fixed tree: halves are folded onto each other until one lane is left, so
// the result does not depend on anything but the ISA.

#if defined(__AVX2__) && !defined(__AVX512F__)
#define MACE_SIMD_FOLD(name, step)                               \
  MACE_SIMD_INLINE float name(V x) {                             \
    V y = __builtin_shufflevector(x, x, 4, 5, 6, 7, 4, 5, 6, 7); \
    x = step(x, y);                                              \
    y = __builtin_shufflevector(x, x, 2, 3, 2, 3, 2, 3, 2, 3);   \
    x = step(x, y);                                              \
    y = __builtin_shufflevector(x, x, 1, 1, 1, 1, 1, 1, 1, 1);   \
    return step(x, y)[0];                                        \
  }
#elif defined(__AVX512F__)
#define MACE_SIMD_FOLD(name, step)                                           \
  MACE_SIMD_INLINE float name(V x) {                                         \
    V y = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9,  \
                                  10, 11, 12, 13, 14, 15);                   \
    x = step(x, y);                                                          \
    y = __builtin_shufflevector(x, x, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, \
                                5, 6, 7);                                    \
    x = step(x, y);                                                          \
    y = __builtin_shufflevector(x, x, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, \
                                3, 2, 3);                                    \
    x = step(x, y);                                                          \
    y = __builtin_shufflevector(x, x, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
                                1, 1, 1);                                    \
    return step(x, y)[0];                                                    \
  }
#else
#define MACE_SIMD_FOLD(name, step)                   \
  MACE_SIMD_INLINE float name(V x) {                 \
    V y = __builtin_shufflevector(x, x, 2, 3, 2, 3); \
    x = step(x, y);                                  \
    y = __builtin_shufflevector(x, x, 1, 1, 1, 1);   \
    return step(x, y)[0];                            \
  }
#endif
MACE_SIMD_INLINE V Plus(V a, V b) { return a + b; }
MACE_SIMD_FOLD(ReduceAdd, Plus)
MACE_SIMD_FOLD(ReduceMax, Max)
MACE_SIMD_FOLD(ReduceMin, Min)
#undef MACE_SIMD_FOLD

// ---- sums in float
// -----------------------------------------------------------

// Of many elements, where Element has too few bits for it.
using Sum = V;
MACE_SIMD_INLINE Sum ZeroSum() { return Zero(); }
MACE_SIMD_INLINE Sum AddTo(Sum sum, V x) { return sum + x; }
MACE_SIMD_INLINE Sum AddSums(Sum a, Sum b) { return a + b; }
MACE_SIMD_INLINE V Quotient(Sum sum, float divisor) {
  return sum / Set(divisor);
}

// ---- 16-bit storage --------------------------------------------------------

MACE_SIMD_INLINE VH LoadHalfBits(const uint16_t *p) {
  VH v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE VH LoadHalfBitsN(const uint16_t *p, int n) {
  VH v{};
  __builtin_memcpy(&v, p, static_cast<size_t>(n) * 2);
  return v;
}
MACE_SIMD_INLINE void StoreHalfBits(uint16_t *p, VH v) {
  __builtin_memcpy(p, &v, sizeof(v));
}
MACE_SIMD_INLINE void StoreHalfBitsN(uint16_t *p, VH v, int n) {
  __builtin_memcpy(p, &v, static_cast<size_t>(n) * 2);
}

// bf16 is the upper half of a float.
MACE_SIMD_INLINE V WidenBf16(VH h) {
  return AsFloat(__builtin_convertvector(h, VU) << 16);
}
// Round to nearest even; a NaN stays a (quiet) NaN.
MACE_SIMD_INLINE VH NarrowBf16(V x) {
  const VU w = AsUint(x);
  const VU rounded = (w + 0x7fffu + ((w >> 16) & 1u)) >> 16;
  const VU nan = (w >> 16) | 0x40u;
  const VI is_nan = (x != x);
  return __builtin_convertvector(is_nan ? nan : rounded, VH);
}

#if defined(__AVX512F__)
MACE_SIMD_INLINE V WidenF16(VH h) {
  return _mm512_cvtph_ps(reinterpret_cast<__m256i>(h));
}
MACE_SIMD_INLINE VH NarrowF16(V x) {
  return reinterpret_cast<VH>(
      _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__F16C__)
MACE_SIMD_INLINE V WidenF16(VH h) {
  return _mm256_cvtph_ps(reinterpret_cast<__m128i>(h));
}
MACE_SIMD_INLINE VH NarrowF16(V x) {
  return reinterpret_cast<VH>(
      _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__ARM_NEON)
MACE_SIMD_INLINE V WidenF16(VH h) {
  return vcvt_f32_f16(reinterpret_cast<float16x4_t>(h));
}
MACE_SIMD_INLINE VH NarrowF16(V x) {
  return reinterpret_cast<VH>(vcvt_f16_f32(x));
}
#else
// sse41 has no conversion instruction.
// Widening: the exponent moves up by 13 bits and a multiplication by 2^112
// corrects its bias, subnormals included; Inf and NaN get the full exponent.
MACE_SIMD_INLINE V WidenF16(VH h) {
  const VU w = __builtin_convertvector(h, VU);
  const VU magnitude = (w & 0x7fffu) << 13;
  const VU finite = AsUint(AsFloat(magnitude) * 0x1p112f);
  const VU special = magnitude | 0x7f800000u;
  const VI is_special = (magnitude >= (VU{} + (0x7c00u << 13)));
  return AsFloat(((w & 0x8000u) << 16) | (is_special ? special : finite));
}
// Narrowing rounds to nearest even. Below 2^-14 adding 0.5, whose last place is
// fp16's smallest subnormal, rounds and leaves the answer in the low bits.
MACE_SIMD_INLINE VH NarrowF16(V x) {
  const VU w = AsUint(x);
  const VU a = w & 0x7fffffffu;
  const VU normal = (a + 0xfffu + ((a >> 13) & 1u) - (112u << 23)) >> 13;
  const VU tiny = AsUint(AsFloat(a) + 0.5f) - 0x3f000000u;
  const VU nan = 0x7e00u | ((a >> 13) & 0x1ffu);
  VU r = (a < (VU{} + 0x38800000u)) ? tiny : normal;
  r = (a >= (VU{} + 0x477ff000u)) ? (VU{} + 0x7c00u) : r;
  r = (a > (VU{} + 0x7f800000u)) ? nan : r;
  return __builtin_convertvector(r | ((w >> 16) & 0x8000u), VH);
}
#endif

MACE_SIMD_INLINE V LoadF16(const uint16_t *p) {
  return WidenF16(LoadHalfBits(p));
}
MACE_SIMD_INLINE V LoadBf16(const uint16_t *p) {
  return WidenBf16(LoadHalfBits(p));
}
MACE_SIMD_INLINE V LoadF16N(const uint16_t *p, int n) {
  return WidenF16(LoadHalfBitsN(p, n));
}
MACE_SIMD_INLINE V LoadBf16N(const uint16_t *p, int n) {
  return WidenBf16(LoadHalfBitsN(p, n));
}
MACE_SIMD_INLINE void StoreF16(uint16_t *p, V v) {
  StoreHalfBits(p, NarrowF16(v));
}
MACE_SIMD_INLINE void StoreBf16(uint16_t *p, V v) {
  StoreHalfBits(p, NarrowBf16(v));
}
MACE_SIMD_INLINE void StoreF16N(uint16_t *p, V v, int n) {
  StoreHalfBitsN(p, NarrowF16(v), n);
}
MACE_SIMD_INLINE void StoreBf16N(uint16_t *p, V v, int n) {
  StoreHalfBitsN(p, NarrowBf16(v), n);
}

// ---- int8 ------------------------------------------------------------------

MACE_SIMD_INLINE V LoadInt8(const int8_t *p) {
  VI8 bytes;
  __builtin_memcpy(&bytes, p, sizeof(bytes));
  return __builtin_convertvector(__builtin_convertvector(bytes, VI), V);
}

// Sixteen adjacent int8 as floats.
inline constexpr int kSixteenVectors = 16 / kLanes;
MACE_SIMD_INLINE void LoadSixteenInt8(const int8_t *p,
                                      V (&v)[kSixteenVectors]) {
#if defined(__ARM_NEON)
  // One load, whose halves are widened by instructions for halves.
  const int8x16_t bytes = vld1q_s8(p);
  const int16x8_t halves[2] = {vmovl_s8(vget_low_s8(bytes)),
                               vmovl_s8(vget_high_s8(bytes))};
  for (int i = 0; i < 2; ++i) {
    v[2 * i] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(halves[i])));
    v[2 * i + 1] = vcvtq_f32_s32(vmovl_s16(vget_high_s16(halves[i])));
  }
#else
  for (int i = 0; i < kSixteenVectors; ++i) v[i] = LoadInt8(p + i * kLanes);
#endif
}

// ---- pairs of bf16 ---------------------------------------------------------
// A 32-bit lane holds two neighbours in memory, the earlier one below.

MACE_SIMD_INLINE VU LoadBf16Pairs(const uint16_t *p) {
  VU v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE V EarlierBf16(VU pairs) { return AsFloat(pairs << 16); }
MACE_SIMD_INLINE V LaterBf16(VU pairs) { return AsFloat(pairs & 0xffff0000u); }

#if defined(__AVX512BF16__)
// The pair at p in every lane.
MACE_SIMD_INLINE VU SetBf16Pair(const uint16_t *p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, sizeof(bits));
  return reinterpret_cast<VU>(_mm512_set1_epi32(bits));
}
// acc + the later products + the earlier ones, each step rounded to nearest;
// subnormal numbers count as 0.
MACE_SIMD_INLINE V DotBf16Pairs(V acc, VU a, VU b) {
  return _mm512_dpbf16_ps(acc, reinterpret_cast<__m512bh>(a),
                          reinterpret_cast<__m512bh>(b));
}
// The first 12 lanes in threes, each followed by a 0.
MACE_SIMD_INLINE V SpreadThrees(V x) {
  static_assert(kLanes == 16, "four times three and a 0");
  const VI from = {0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0};
  return _mm512_maskz_permutexvar_ps(0x7777, reinterpret_cast<__m512i>(from),
                                     x);
}
// NarrowBf16 in one instruction; subnormal numbers become 0.
MACE_SIMD_INLINE VH NarrowBf16Fast(V x) {
  return reinterpret_cast<VH>(_mm512_cvtneps_pbh(x));
}
#endif

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_H_
