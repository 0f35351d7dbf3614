// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// simd.h's functions with plain arrays as arguments, for its test.

#ifndef MACE_KERNELS_CPU_SIMD_PROBE_H_
#define MACE_KERNELS_CPU_SIMD_PROBE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa_table.h"

namespace mace::simd {

struct Probe {
  int lanes;
  // y[i] = f(x[i]) for i < lanes.
  void (*floor)(const float *x, float *y);
  void (*ceil)(const float *x, float *y);
  void (*round)(const float *x, float *y);
  void (*truncate)(const float *x, float *y);
  void (*abs)(const float *x, float *y);
  void (*sqrt)(const float *x, float *y);
  void (*clamp)(const float *x, float low, float high, float *y);
  void (*set)(float x, float *y);  // every lane
  // y = x through LoadN and StoreN.
  void (*copy)(const float *x, float *y, int n);
  float (*reduce_add)(const float *x);
  float (*reduce_max)(const float *x);
  float (*reduce_min)(const float *x);
  // c + w * a[0], c + w * a[3]
  void (*fma_lanes)(const float *a, const float *w, const float *c, float *y);
  void (*widen_f16)(const uint16_t *x, float *y);
  void (*widen_bf16)(const uint16_t *x, float *y);
  void (*narrow_f16)(const float *x, uint16_t *y);
  void (*narrow_bf16)(const float *x, uint16_t *y);
  void (*copy_half)(const uint16_t *x, uint16_t *y, int n);  // fp16
  void (*widen_int8)(const int8_t *x, float *y);             // 16 of them
};

MACE_DECLARE_TABLES(BASE, Probe, kProbe)

}  // namespace mace::simd

#endif  // MACE_KERNELS_CPU_SIMD_PROBE_H_
