// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Loops that show what a GPU can do at most; mace/tools/gpu_peak_opencl.cc counts
// their operations and bytes.

// 32 multiply-adds that do not depend on each other.
#define STEP         \
  a = mad(a, x, y); \
  b = mad(b, x, y); \
  c = mad(c, x, y); \
  d = mad(d, x, y); \
  e = mad(e, x, y); \
  f = mad(f, x, y); \
  g = mad(g, x, y); \
  h = mad(h, x, y);

// 128 multiply-adds per round and work item, in registers.
__kernel void multiply_add(__global float4 *out, const int rounds,
                           const float factor, const float term) {
  const float4 x = (float4)(factor);
  const float4 y = (float4)(term);
  float4 a = (float4)(get_global_id(0) & 7);
  float4 b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6,
         h = a + 7;
  for (int round = 0; round < rounds; ++round) {
    STEP
    STEP
    STEP
    STEP
  }
  out[get_global_id(0)] = ((a + b) + (c + d)) + ((e + f) + (g + h));
}

// Each work item has one element of each array, which it reads and writes in
// each round: the arrays may be the same for all that the compiler knows.
__kernel void triad(__global float4 *to, __global const float4 *a,
                    __global const float4 *b, const int rounds,
                    const float factor) {
  const size_t i = get_global_id(0);
  for (int round = 0; round < rounds; ++round) to[i] = a[i] + factor * b[i];
}
