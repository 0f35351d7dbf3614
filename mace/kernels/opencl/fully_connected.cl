// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/epilogue.clh"
#include "mace/kernels/opencl/line.clh"

// The product of input [pixels, K] and packed weights, in sums of float. An
// item computes PIXELS rows of the product for one block of output channels.
//
// LANES > 1, for few rows: the items of a work group with one place in x divide
// K among them. Neighbours in the group then read one stretch of the weights.
// TAIL: the number of elements of the last block of K, 0 if it is complete.
// POOLED: a row of the product is the average of an image [H, W, K], which each
// work group computes for itself, in local memory of K floats; PIXELS is 1.
// SOFTMAX, with LANES > 1 and without a residual: what is written is the softmax
// of each row, or with LOG, its logarithm. The last of `groups` work groups
// computes it. `state` has their number so far, which is 0 between runs, and the
// rows. Since OpenCL 1.2 knows of no other memory that the groups of a launch
// share, they are written and read by atomic functions.
//
// Loops that are short or run once are not unrolled: drivers take as long to compile
// a model's last layer as for its convolutions.
//
// Items: (blocks of O, LANES, tiles of PIXELS), or (blocks of O, tiles) where
// LANES is 1.
#define EACH_PIXEL _Pragma("unroll") for (int p = 0; p < PIXELS; ++p)
#define MULTIPLY(weights, lane)                                           \
  {                                                                       \
    const float4 w = convert_float4(weights);                             \
    EACH_PIXEL { sum[p] = mad((float4)(in[p].lane), w, sum[p]); }         \
  }
#ifdef POOLED
#define POOL_ARG __local float4 *pooled,
#define READ_PIXELS(block) in[0] = pooled[block];
#else
#define POOL_ARG
#define READ_PIXELS(block)                                                \
  EACH_PIXEL { in[p] = convert_float4(READ(input, row[p], column[p], block)); }
#endif

#ifdef SOFTMAX
#define SOFTMAX_ARGS , const int groups, __global int *restrict state
#define ITEMS (BLOCKS * LANES)

static void store_row(__global int *row, int block, float4 v) {
  atomic_xchg(row + 4 * block, as_int(v.x));
  atomic_xchg(row + 4 * block + 1, as_int(v.y));
  atomic_xchg(row + 4 * block + 2, as_int(v.z));
  atomic_xchg(row + 4 * block + 3, as_int(v.w));
}
static float4 load_row(__global int *row, int block) {
  return as_float4((int4)(atomic_or(row + 4 * block, 0),
                          atomic_or(row + 4 * block + 1, 0),
                          atomic_or(row + 4 * block + 2, 0),
                          atomic_or(row + 4 * block + 3, 0)));
}
// Of all items of the work group.
#define DEFINE_ITEM_FOLD(name, fold)                                       \
  LOCAL_FUNCTION float name(float v, int item, __local float *shared) {    \
    shared[item] = v;                                                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                          \
    _Pragma("unroll 1")                                                    \
    for (int half_items = ITEMS / 2; half_items > 0; half_items /= 2) {    \
      if (item < half_items) {                                             \
        shared[item] = fold(shared[item], shared[item + half_items]);      \
      }                                                                    \
      barrier(CLK_LOCAL_MEM_FENCE);                                        \
    }                                                                      \
    const float folded = shared[0];                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                          \
    return folded;                                                         \
  }
DEFINE_ITEM_FOLD(items_sum, LINE_ADD)
DEFINE_ITEM_FOLD(items_max, LINE_MAX)
#else
#define SOFTMAX_ARGS
#endif

#if LANES > 1
__attribute__((reqd_work_group_size(BLOCKS, LANES, 1)))
#endif
__kernel void fully_connected(IN(input), POOL_ARG CONST(weights), BIAS_ARG
                              RESIDUAL_ARG OUT(output), ACT_ARG, const int pixels
                              SOFTMAX_ARGS) {
  const int c = get_global_id(0);
#if LANES > 1
  const int lane = get_local_id(1);
  const int first = get_global_id(2) * PIXELS;
#else
  const int lane = 0;
  const int first = get_global_id(1) * PIXELS;
#endif
  const bool inside = c < output_dims.z && first < pixels;
#if LANES == 1
  if (!inside) return;
#endif
#ifdef POOLED
  const int blocks = input_dims.z;
  const int taps = input_dims.x * input_dims.y;
  for (int k = get_local_id(1) * BLOCKS + get_local_id(0); k < blocks;
       k += BLOCKS * LANES) {
    float4 total = (float4)(0);
    int x = 0;
    int y = first * input_dims.x;
#pragma unroll 4
    for (int tap = 0; tap < taps; ++tap) {
      total += convert_float4(READ(input, y, x, k));
      ++x;
      if (x == input_dims.y) {
        x = 0;
        ++y;
      }
    }
    pooled[k] = total / (float)taps;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  int row[PIXELS];
  int column[PIXELS];
  float4 sum[PIXELS];
  EACH_PIXEL {
    const int pixel = min(first + p, pixels - 1);
    row[p] = pixel / output_dims.y;
    column[p] = pixel - row[p] * output_dims.y;
    sum[p] = (float4)(0);
  }
  if (inside) {
    const int full = input_dims.w / 4;
    PACKED(weights, start, c / 4, c % 4, input_dims.w);
    float4 in[PIXELS];
    for (int k = lane; k < full; k += LANES) {
      const int at = start + 16 * k;
      READ_PIXELS(k)
      MULTIPLY(LOAD4(weights, at), x)
      MULTIPLY(LOAD4(weights, at + 4), y)
      MULTIPLY(LOAD4(weights, at + 8), z)
      MULTIPLY(LOAD4(weights, at + 12), w)
    }
#if TAIL > 0
    if (lane == full % LANES) {
      const int at = start + 16 * full;
      READ_PIXELS(full)
      MULTIPLY(LOAD4(weights, at), x)
#if TAIL > 1
      MULTIPLY(LOAD4(weights, at + 4), y)
#endif
#if TAIL > 2
      MULTIPLY(LOAD4(weights, at + 8), z)
#endif
    }
#endif
  }
#if LANES > 1
  const int block = get_local_id(0);
  __local float4 sums[PIXELS][LANES][BLOCKS];
  EACH_PIXEL { sums[p][lane][block] = sum[p]; }
#pragma unroll 1
  for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_lanes) {
      EACH_PIXEL {
        sum[p] += sums[p][lane + half_lanes][block];
        sums[p][lane][block] = sum[p];
      }
    }
  }
#ifndef SOFTMAX
  if (!inside || lane > 0) return;
#endif
#endif
#ifdef SOFTMAX
  if (inside && lane == 0) {
    const float4 bias4 = convert_float4(BIAS(c));
    EACH_PIXEL {
      if (first + p < pixels) {
        store_row(state + 1 + (first + p) * output_dims.z * 4, c,
                  convert_float4(ACTIVATE(convert_real4(sum[p] + bias4))));
      }
    }
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const int item = lane * BLOCKS + block;
  __local int *is_last = (__local int *)sums;
  if (item == 0) is_last[0] = atomic_inc(state) == groups - 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool ends = is_last[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!ends) return;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (item == 0) atomic_xchg(state, 0);
  __local float *shared = (__local float *)sums;
  for (int pixel = 0; pixel < pixels; ++pixel) {
    __global int *values = state + 1 + pixel * output_dims.z * 4;
    float most = -INFINITY;
#pragma unroll 1
    for (int b = item; b < output_dims.z; b += ITEMS) {
      most = fmax(most, max_of_lanes(mask_lanes(load_row(values, b),
                                                output_dims.w, b, -INFINITY)));
    }
    most = items_max(most, item, shared);
    float total = 0;
#pragma unroll 1
    for (int b = item; b < output_dims.z; b += ITEMS) {
      total += sum_of_lanes(mask_lanes(exp(load_row(values, b) - most),
                                       output_dims.w, b, 0));
    }
    total = items_sum(total, item, shared);
    const int y = pixel / output_dims.y;
    const int x = pixel - y * output_dims.y;
#pragma unroll 1
    for (int b = item; b < output_dims.z; b += ITEMS) {
#ifdef LOG
      const float4 result = load_row(values, b) - most - log(total);
#else
      const float4 result = exp(load_row(values, b) - most) * (1.0f / total);
#endif
      WRITE(output, y, x, b, convert_real4(result));
    }
  }
#else
  const float4 bias4 = convert_float4(BIAS(c));
  if (has_residual) {
    EACH_PIXEL {
      if (first + p < pixels) {
        sum[p] += convert_float4(RESIDUAL(row[p], column[p], c));
      }
    }
  }
  EACH_PIXEL {
    if (first + p < pixels) {
      WRITE(output, row[p], column[p], c,
            ACTIVATE(convert_real4(sum[p] + bias4)));
    }
  }
#endif
}
