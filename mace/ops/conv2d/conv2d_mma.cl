// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/mma.clh"
#include "mace/kernels/opencl/epilogue.clh"

// A convolution by matrix units. A warp computes 32 output channels of
// 8 * TILES pixels. A work group has WARPS_O x WARPS_P x WARPS_K warps: next to
// each other in channels, in pixels, and WARPS_K that divide the input channels
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

#define WARPS (WARPS_O * WARPS_P * WARPS_K)

#ifdef DEPTHWISE
#define DEPTHWISE_ARGS CONST(dw_filter), CONST(dw_bias), const float4 dw_act,

float4 unpack_bits(uint2 bits) { return unpack_half(as_ushort4(bits)); }

float4 activate_depthwise(float4 v, float4 p) {
#if defined(DW_RELU)
  return fmax(v, 0.0f);
#elif defined(DW_RELUX)
  return fmin(fmax(v, 0.0f), p.x);
#elif defined(DW_HARD_SWISH)
  return v * fmin(fmax(v * (1.0f / 6.0f) + 0.5f, 0.0f), 1.0f);
#elif defined(DW_SWISH)
  return v / (1.0f + exp(-v));
#else
  return v;
#endif
}
#else
#define DEPTHWISE_ARGS
#endif

__attribute__((reqd_work_group_size(32, WARPS, 1)))
__kernel void conv2d_mma(IN(input), DEPTHWISE_ARGS
                         __global const uint4 *restrict filter,
                         BIAS_ARG RESIDUAL_ARG OUT(output), ACT_ARG,
                         const int4 window, const int4 step,
                         const int2 border) {
  const int lane = get_local_id(0);
  const int warp = get_local_id(1);
  const int warp_k = warp % WARPS_K;
  const int warp_p = warp / WARPS_K % WARPS_P;
  const int warp_o = warp / (WARPS_K * WARPS_P);
  const int channel_blocks = (output_dims.w + 31) / 32;
  const int channel_block = get_group_id(1) * WARPS_O + warp_o;
  // A warp without channels computes those of another, and writes nothing.
  const int filter_block = min(channel_block, channel_blocks - 1);
  const int first_pixel =
      (get_group_id(0) * WARPS_P + warp_p) * (8 * TILES);
  const int pixels = window.w;
  const int lane_block = 2 * (lane % 4);

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
  __local uint4 shared[2][WARPS_P * WARPS_K][TILES][32];
  const int shared_part = warp_p * WARPS_K + warp_k;
  const int rounds = (steps + WARPS_K - 1) / WARPS_K;
  for (int round = 0; round < rounds; ++round) {
    const int k = round * WARPS_K + warp_k;
    uint4 w[4];
    if (k < steps) {
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        w[s] = filter[((filter_first + k) * 4 + s) * 32 + lane];
      }
    }
    for (int i = warp_o; i < TILES; i += WARPS_O) {
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
            as_uint2(pack_half(activate_depthwise(low, dw_act))),
            as_uint2(pack_half(activate_depthwise(high, dw_act))));
      }
      shared[round % 2][shared_part][i][lane] = bits;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < steps) {
#pragma unroll
      for (int i = 0; i < TILES; ++i) {
        const uint4 b = shared[round % 2][shared_part][i][lane];
        MMA_ACCUMULATE(sums[i], w, b);
      }
    }
  }
#else
  const int per_warp = (steps + WARPS_K - 1) / WARPS_K;
  const int begin = warp_k * per_warp;
  const int end = min(steps, begin + per_warp);
#ifdef POINTWISE
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

#if WARPS_K > 1
  __local float4 partial[WARPS][2 * TILES][32];
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
    partial[warp][2 * i][lane] = sums[i].low;
    partial[warp][2 * i + 1][lane] = sums[i].high;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
#if WARPS_K > 1
    if (i % WARPS_K != warp_k) continue;
    sums[i].low = (float4)(0);
    sums[i].high = (float4)(0);
    for (int other = 0; other < WARPS_K; ++other) {
      sums[i].low += partial[warp - warp_k + other][2 * i][lane];
      sums[i].high += partial[warp - warp_k + other][2 * i + 1][lane];
    }
#endif
    const int c = channel_block * 8 + lane / 4;
    if (c >= output_dims.z) continue;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int p = first_pixel + 8 * i + lane_block + e;
      if (p >= pixels) continue;
      const int y = p / output_dims.y;
      const int x = p - y * output_dims.y;
      const real4 sum =
          convert_real4(e == 0 ? mma_first(sums[i]) : mma_second(sums[i])) +
          BIAS(c);
      WRITE(output, y, x, c, ACTIVATE(ADD_RESIDUAL(sum, y, x, c)));
    }
  }
}
