// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/mma.clh"
#include "mace/kernels/opencl/epilogue.clh"

// A convolution by matrix units. A warp computes 32 output channels of
// 8 * TILES pixels. The 8 warps of a work group are divided (split: O, P, K): next
// to each other in channels, in pixels, and those that divide the input channels
// and taps and add their sums in local memory.
//
// window  (KH, KW, ceil(I / 32), pixels of the output)
// step    (vertical stride, horizontal stride, vertical dilation, horizontal)
// border  (top, left: rows and columns of padding)
// DEPTHWISE: the input is first convolved by channel, with a window of its own
// (the macros KH and KW, step and border), a bias, and an activation; the second
// convolution is pointwise.
//
// Work groups: x over pixels, y over output channels.

#define WARPS 8

#ifdef DEPTHWISE
#define DEPTHWISE_ARGS CONST(dw_filter), CONST(dw_bias), const float4 dw_params,

float4 unpack_bits(uint2 bits) { return unpack_half(as_ushort4(bits)); }
#else
#define DEPTHWISE_ARGS
#endif

__attribute__((reqd_work_group_size(32, WARPS, 1)))
__kernel void conv_mma(IN(input), DEPTHWISE_ARGS
                         __global const uint4 *restrict filter,
                         BIAS_ARG RESIDUAL_ARG OUT(output), ACT_ARG,
                         const int4 window, const int4 step,
                         const int2 border, const int4 split) {
  const int warps_o = split.x;
  const int warps_p = split.y;
  const int warps_k = split.z;
  const int lane = get_local_id(0);
  const int warp = get_local_id(1);
  const int warp_k = warp % warps_k;
  const int warp_p = warp / warps_k % warps_p;
  const int warp_o = warp / (warps_k * warps_p);
  const int channel_blocks = (output_dims.w + 31) / 32;
  const int channel_block = get_group_id(1) * warps_o + warp_o;
  // A warp without channels computes those of another, and writes nothing.
  const int filter_block = min(channel_block, channel_blocks - 1);
  const int first_pixel =
      (get_group_id(0) * warps_p + warp_p) * (8 * TILES);
  const int pixels = window.w;
  const int lane_block = 2 * (lane % 4);

  // Sums of the warps, and before that what they share.
  __local float4 memory[WARPS * 2 * TILES * 32];
  MmaSums sums[TILES];
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
    sums[i].low = (float4)(0);
    sums[i].high = (float4)(0);
  }

#ifdef POINTWISE
  const int taps = 1;
#else
  const int taps = window.x * window.y;
#endif
  const int steps = taps * window.z;
  const int filter_first = filter_block * steps;

#ifdef DEPTHWISE
  // The warps of the same pixels and input channels share what each of them
  // computes of the depthwise convolution.
  __local uint4 *shared = (__local uint4 *)memory;  // [2][WARPS][TILES][32]
  const int shared_part = warp_p * warps_k + warp_k;
  const int rounds = (steps + warps_k - 1) / warps_k;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const int k = round * warps_k + warp_k;
    uint4 w[4];
    if (k < steps) {
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        w[s] = filter[((filter_first + k) * 4 + s) * 32 + lane];
      }
    }
#pragma unroll 1
    for (int i = warp_o; i < TILES; i += warps_o) {
      const int p = first_pixel + 8 * i + lane / 4;
      const int block = k * 8 + lane_block;
      uint4 bits = (uint4)(0);
      if (p < pixels && block < input_dims.z && k < steps) {
        const int y = p / output_dims.y;
        const int x = p - y * output_dims.y;
        const int n = y / output_dims.x;
        const int in_y0 = (y - n * output_dims.x) * step.x - border.x;
        const int in_x0 = x * step.y - border.y;
        float4 low = LOAD4(dw_bias, block);
        float4 high = LOAD4(dw_bias, block + 1);
#pragma unroll
        for (int ky = 0; ky < KH; ++ky) {
          const int in_y = in_y0 + ky * step.z;
#pragma unroll
          for (int kx = 0; kx < KW; ++kx) {
            const int in_x = in_x0 + kx * step.w;
            if (in_y >= 0 && in_y < input_dims.x && in_x >= 0 &&
                in_x < input_dims.y) {
              const uint4 v =
                  READ8(input, n * input_dims.x + in_y, in_x, block);
              const int at = (ky * KW + kx) * input_dims.z + block;
              low = mad(unpack_bits(v.xy), LOAD4(dw_filter, at), low);
              high = mad(unpack_bits(v.zw), LOAD4(dw_filter, at + 1), high);
            }
          }
        }
        bits = (uint4)(
            as_uint2(pack_half(ACTIVATE_AS(DW, low, dw_params))),
            as_uint2(pack_half(ACTIVATE_AS(DW, high, dw_params))));
      }
      shared[((round % 2 * WARPS + shared_part) * TILES + i) * 32 + lane] =
          bits;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < steps) {
#pragma unroll
      for (int i = 0; i < TILES; ++i) {
        const uint4 b =
            shared[((round % 2 * WARPS + shared_part) * TILES + i) * 32 + lane];
        MMA_ACCUMULATE(sums[i], w, b);
      }
    }
  }
#else
  const int per_warp = (steps + warps_k - 1) / warps_k;
  const int begin = warp_k * per_warp;
  const int end = min(steps, begin + per_warp);
#ifdef POINTWISE
#pragma unroll 1
  for (int k = begin; k < end; ++k) {
    uint4 w[4];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      w[s] = filter[((filter_first + k) * 4 + s) * 32 + lane];
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      const int p = first_pixel + 8 * i + lane / 4;
      uint4 b = (uint4)(0);
      if (p < pixels) {
        const int y = p / input_dims.y;
        b = READ8(input, y, p - y * input_dims.y, k * 8 + lane_block);
      }
      MMA_ACCUMULATE(sums[i], w, b);
    }
  }
#else
  int in_row[TILES];  // of the image, in the input
  int in_y0[TILES];
  int in_x0[TILES];
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
    const int p = first_pixel + 8 * i + lane / 4;
    const int y = p / output_dims.y;
    const int n = y / output_dims.x;
    in_row[i] = n * input_dims.x;
    in_y0[i] = (y - n * output_dims.x) * step.x - border.x;
    in_x0[i] = (p - y * output_dims.y) * step.y - border.y;
    // No row of the image.
    if (p >= pixels) in_y0[i] = -window.x * step.z;
  }
  int chunk = begin % window.z;
  int tap = begin / window.z;
#pragma unroll 1
  for (int k = begin; k < end;) {
    const int ky = tap / window.y;
    const int kx = tap - ky * window.y;
    int in_y[TILES];
    int in_x[TILES];
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      in_y[i] = in_y0[i] + ky * step.z;
      in_x[i] = in_x0[i] + kx * step.w;
      if (in_x[i] < 0 || in_x[i] >= input_dims.y || in_y[i] >= input_dims.x) {
        in_y[i] = -1;
      }
    }
#pragma unroll 1
    for (; chunk < window.z && k < end; ++chunk, ++k) {
      uint4 w[4];
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        w[s] = filter[((filter_first + k) * 4 + s) * 32 + lane];
      }
#pragma unroll
      for (int i = 0; i < TILES; ++i) {
        uint4 b = (uint4)(0);
        if (in_y[i] >= 0) {
          b = READ8(input, in_row[i] + in_y[i], in_x[i],
                    chunk * 8 + lane_block);
        }
        MMA_ACCUMULATE(sums[i], w, b);
      }
    }
    chunk = 0;
    ++tap;
  }
#endif
#endif

  // All sums go through local memory, also if they are complete: the code after
  // them is then compiled once, and not for each of a warp's registers, which
  // halves the time of the compiler.
#ifdef DEPTHWISE
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
    memory[(warp * 2 * TILES + 2 * i) * 32 + lane] = sums[i].low;
    memory[(warp * 2 * TILES + 2 * i + 1) * 32 + lane] = sums[i].high;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int c = channel_block * 8 + lane / 4;
  if (c >= output_dims.z) return;
  const float4 bias4 = convert_float4(BIAS(c));
#pragma unroll 1
  for (int i = warp_k; i < TILES; i += warps_k) {
    MmaSums sum;
    sum.low = (float4)(0);
    sum.high = (float4)(0);
#pragma unroll 1
    for (int other = 0; other < warps_k; ++other) {
      const int at = ((warp - warp_k + other) * 2 * TILES + 2 * i) * 32 + lane;
      sum.low += memory[at];
      sum.high += memory[at + 32];
    }
#pragma unroll 1
    for (int e = 0; e < 2; ++e) {
      const int p = first_pixel + 8 * i + lane_block + e;
      if (p >= pixels) break;
      const int y = p / output_dims.y;
      const int x = p - y * output_dims.y;
      const real4 v = convert_real4(
          (e == 0 ? mma_first(sum) : mma_second(sum)) + bias4);
      WRITE(output, y, x, c, ACTIVATE(ADD_RESIDUAL(v, y, x, c)));
    }
  }
}
