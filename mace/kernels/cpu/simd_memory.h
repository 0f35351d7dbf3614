// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores of float and int32 vectors. Include simd.h, which states the
// conventions.

#ifndef MACE_KERNELS_CPU_SIMD_MEMORY_H_
#define MACE_KERNELS_CPU_SIMD_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/simd_vector.h"

namespace mace::simd::MACE_ISA {

// ---- loads and stores ------------------------------------------------------

MACE_SIMD_INLINE V Load(const float *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
MACE_SIMD_INLINE void Store(float *p, V v) {
  __builtin_memcpy(p, &v, sizeof(v));
}
// p + step, hidden from the optimiser, which then advances p with each load
// instead of computing an address for every load (arm64's loads of several
// vectors accept no offset).
template <typename T>
MACE_SIMD_INLINE T *Advance(T *p, size_t step) {
  p += step;
#if defined(__aarch64__)
  __asm__("" : "+r"(p));
#endif
  return p;
}

// x, with its value hidden from the optimiser on arm64: it stays in a register
// instead of being recomputed from another value.
MACE_SIMD_INLINE ptrdiff_t Opaque(ptrdiff_t x) {
#if defined(__aarch64__)
  __asm__("" : "+r"(x));
#endif
  return x;
}

// Whether loads and stores may advance their pointer by any distance.
#if defined(__arm__)
inline constexpr bool kLoadsStep = true;
#else
inline constexpr bool kLoadsStep = false;
#endif

// p, hidden from the optimiser: values stored there stay in memory.
template <typename T>
MACE_SIMD_INLINE T *Hidden(T *p) {
  __asm__("" : "+r"(p));
  return p;
}

// Four adjacent vectors, loaded by one instruction if kLoadsFour.
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
// For ISAs with four lanes and no masked moves: at most a load of two elements
// and one of a single element.
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

// Loads floats, whatever Element is.
MACE_SIMD_INLINE V LoadF32(const float *p) { return Load(p); }
MACE_SIMD_INLINE V LoadF32N(const float *p, int n) { return LoadN(p, n); }
MACE_SIMD_INLINE V LoadWeight(const Weight *p) { return Load(p); }
MACE_SIMD_INLINE V LoadWeightN(const Weight *p, int n) { return LoadN(p, n); }
MACE_SIMD_INLINE void StoreWeight(Weight *p, V v) { Store(p, v); }
MACE_SIMD_INLINE void StoreWeightN(Weight *p, V v, int n) { StoreN(p, v, n); }
// Stores a vector of floats, rounded to Element.
MACE_SIMD_INLINE void StoreRounded(Element *p, V v) { Store(p, v); }

// ---- cache -----------------------------------------------------------------

// Prefetches the cache line at p, which need not be valid memory. ARM cores
// prefetch well by themselves; there the instruction costs more than it saves,
// so kPrefetch is false and callers leave out the code.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool kPrefetch = true;
#else
inline constexpr bool kPrefetch = false;
#endif
MACE_SIMD_INLINE void PrefetchForReading(const void *p) {
  __builtin_prefetch(p, 0);
}
MACE_SIMD_INLINE void PrefetchIntoL2(const void *p) {
  __builtin_prefetch(p, 0, 2);
}
MACE_SIMD_INLINE void PrefetchForWriting(const void *p) {
  __builtin_prefetch(p, 1);
}

// Weights that a product reads after `tiles` tiles of rows. If they are in no
// cache, the first tile waits for memory, which had nothing to do during those
// before it.
class Ahead {
 public:
  Ahead(const void *weights, size_t bytes, size_t tiles)
      : at_(static_cast<const char *>(weights)), end_(at_) {
    if (tiles <= 1 || bytes > tiles * kMostAtOnce) return;
    end_ += bytes;
    part_ = (bytes / tiles + kLine - 1) / kLine * kLine;
  }

  __attribute__((always_inline)) void Prefetch() {
    if constexpr (!kPrefetch) return;
    const char *end = at_ + part_;
    for (; at_ < end && at_ < end_; at_ += kLine) PrefetchIntoL2(at_);
  }

 private:
  static constexpr size_t kLine = 64;
  // A tile's own weights wait behind more than that.
  static constexpr size_t kMostAtOnce = 64 * kLine;

  const char *at_;
  const char *end_;
  size_t part_ = 0;
};

}  // namespace mace::simd::MACE_ISA

#endif  // MACE_KERNELS_CPU_SIMD_MEMORY_H_
