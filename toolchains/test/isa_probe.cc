// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "toolchains/test/isa_probe.h"

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

#if defined(MACE_ISA_SSE41)
#define MACE_ISA_NAME "sse41"
#elif defined(MACE_ISA_AVX2)
#define MACE_ISA_NAME "avx2"
#elif defined(MACE_ISA_AVX512)
#define MACE_ISA_NAME "avx512"
#elif defined(MACE_ISA_NEON)
#define MACE_ISA_NAME "neon"
#endif

namespace mace {
namespace MACE_ISA {

namespace {

#if defined(MACE_ISA_AVX512)
constexpr int kBytes = 64;
void MultiplyAdd(const float *a, const float *b, const float *c, float *out) {
  _mm512_storeu_ps(out, _mm512_fmadd_ps(_mm512_loadu_ps(a), _mm512_loadu_ps(b),
                                        _mm512_loadu_ps(c)));
}
#elif defined(MACE_ISA_AVX2)
constexpr int kBytes = 32;
void MultiplyAdd(const float *a, const float *b, const float *c, float *out) {
  _mm256_storeu_ps(out, _mm256_fmadd_ps(_mm256_loadu_ps(a), _mm256_loadu_ps(b),
                                        _mm256_loadu_ps(c)));
}
#elif defined(MACE_ISA_SSE41)
constexpr int kBytes = 16;
void MultiplyAdd(const float *a, const float *b, const float *c, float *out) {
  // blendv is the SSE4.1 instruction that proves the flag.
  const __m128 product = _mm_mul_ps(_mm_loadu_ps(a), _mm_loadu_ps(b));
  const __m128 sum = _mm_add_ps(product, _mm_loadu_ps(c));
  _mm_storeu_ps(out, _mm_blendv_ps(sum, sum, product));
}
#else
constexpr int kBytes = 16;
void MultiplyAdd(const float *a, const float *b, const float *c, float *out) {
  vst1q_f32(out, vfmaq_f32(vld1q_f32(c), vld1q_f32(a), vld1q_f32(b)));
}
#endif

}  // namespace

extern const IsaProbe kProbe = {MACE_ISA_NAME, kBytes, MultiplyAdd};

}  // namespace MACE_ISA
}  // namespace mace
