// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/mma.clh"
#include "mace/kernels/opencl/epilogue.clh"

// A convolution by matrix units. A warp computes 32 output channels of
// `tiles` times 8 pixels. The 8 warps of a work group are divided: next to each
// other in channels, in pixels, and those that divide the input channels and
// taps and add their sums in local memory.
//
// The compiler of NVIDIA's driver takes about as long for a program as for a
// model's other start: what could be a macro is an argument, unless it costs
// time in the inner loop.
//
// split   warps next to each other in channels, in pixels, in input channels and
//         taps; tiles, at most TILES
// window  (KH, KW, ceil(I / 32), pixels of the output)
// step    (vertical stride, horizontal stride, vertical dilation, horizontal)
// border  (top, left: rows and columns of padding)
// FEW_CHANNELS: the input has at most four channels, and 32 input channels are
// those of 8 taps.
// DEPTHWISE: the input is first convolved by channel, with a window of its own
// (the macros KH and KW, step and border), a bias, and an activation; the second
// convolution is pointwise.
//
// Work groups: x over pixels, y over output channels.

#define WARPS 8
#ifdef MMA_FLOAT
#define TILES 2  // so that it is compiled as fast as for halves
#else
#define TILES 4
#endif

#ifdef DEPTHWISE
#define DEPTHWISE_ARGS CONST(dw_filter), CONST(dw_bias), const float4 dw_params,
// The rounds of which the depthwise convolution is kept in local memory.
#ifdef MMA_FLOAT
#define KEPT_ROUNDS 1
// So that registers are left for a second work group.
#define EACH_DEPTHWISE_ROW _Pragma("unroll 1")
#else
#define KEPT_ROUNDS 2
#define EACH_DEPTHWISE_ROW _Pragma("unroll")
#endif
#define DEPTHWISE_AT(round, tile)                                            \
  ((((round) % KEPT_ROUNDS * WARPS + shared_part) * TILES + (tile)) * 32 + \
   lane)
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
  const int tiles = split.w;
  const int lane = get_local_id(0);
  const int warp = get_local_id(1);
  const int warp_k = warp % warps_k;
  const int warp_p = warp / warps_k % warps_p;
  const int warp_o = warp / (warps_k * warps_p);
  const int channel_blocks = (output_dims.w + 31) / 32;
  const int channel_block = GROUP_INDEX(1, WARPS) * warps_o + warp_o;
  // A warp without channels computes those of another, and writes nothing.
  const int filter_block = min(channel_block, channel_blocks - 1);
  const int first_pixel =
      (GROUP_INDEX(0, 32) * warps_p + warp_p) * (8 * tiles);
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

  const int taps = window.x * window.y;
#ifdef FEW_CHANNELS
  const int steps = (taps + 7) / 8;
#else
  const int steps = taps * window.z;
#endif
  // The filter, in units of 8 inputs of a tap (of all taps, with few channels).
#ifdef FEW_CHANNELS
  const int tap_units = (taps + 1) / 2;
  const int all_units = tap_units;
#else
  const int tap_units = (input_dims.w + 7) / 8;
  const int all_units = taps * tap_units;
#endif
  const int filter_groups = min(8, output_dims.z - 8 * filter_block);
  const int unit_pieces = 4 * MMA_PIECES * filter_groups;
  __global const uint4 *own_filter =
      filter + filter_block * all_units * (32 * MMA_PIECES);
// The weights of step k of a tap whose first unit is `first`.
#define WEIGHTS_OF(first, k)                                     \
  mma_weights(own_filter + ((first) + 4 * (k)) * unit_pieces,    \
              min(4, tap_units - 4 * (k)), filter_groups, lane)

#ifdef DEPTHWISE
  // The warps of the same pixels and input channels share what each of them
  // computes of the depthwise convolution.
  // [KEPT_ROUNDS][WARPS][TILES][32]
  __local Mma8 *shared = (__local Mma8 *)memory;
  const int shared_part = warp_p * warps_k + warp_k;
  const int rounds = (steps + warps_k - 1) / warps_k;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const int k = round * warps_k + warp_k;
    MmaWeights weights;
    if (k < steps) weights = WEIGHTS_OF(0, k);
#pragma unroll 1
    for (int i = warp_o; i < tiles; i += warps_o) {
      const int p = first_pixel + 8 * i + lane / 4;
      const int block = k * 8 + lane_block;
      Mma8 depthwise = mma8_zero();
      if (p < pixels && block < input_dims.z && k < steps) {
        const int y = p / output_dims.y;
        const int x = p - y * output_dims.y;
        const int n = y / output_dims.x;
        const int in_y0 = (y - n * output_dims.x) * step.x - border.x;
        const int in_x0 = x * step.y - border.y;
        float4 low = LOAD4(dw_bias, block);
        float4 high = LOAD4(dw_bias, block + 1);
        EACH_DEPTHWISE_ROW
        for (int ky = 0; ky < KH; ++ky) {
          const int in_y = in_y0 + ky * step.z;
#pragma unroll
          for (int kx = 0; kx < KW; ++kx) {
            const int in_x = in_x0 + kx * step.w;
            if (in_y >= 0 && in_y < input_dims.x && in_x >= 0 &&
                in_x < input_dims.y) {
              const Mma8 v =
                  READ8(input, n * input_dims.x + in_y, in_x, block);
              const int at = (ky * KW + kx) * input_dims.z + block;
              low = mad(mma8_low(v), LOAD4(dw_filter, at), low);
              high = mad(mma8_high(v), LOAD4(dw_filter, at + 1), high);
            }
          }
        }
        depthwise = mma8(ACTIVATE_AS(DW, low, dw_params),
                         ACTIVATE_AS(DW, high, dw_params));
      }
      shared[DEPTHWISE_AT(round, i)] = depthwise;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < steps) {
      Mma8 b[TILES];
#pragma unroll
      for (int i = 0; i < TILES; ++i) {
        if (i < tiles) b[i] = shared[DEPTHWISE_AT(round, i)];
      }
      MMA_ACCUMULATE(sums, weights, b, tiles);
    }
#if KEPT_ROUNDS == 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
#else
  const int per_warp = (steps + warps_k - 1) / warps_k;
  const int begin = warp_k * per_warp;
  const int end = min(steps, begin + per_warp);
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
    if (p >= pixels || i >= tiles) in_y0[i] = -window.x * step.z;
  }
#ifdef FEW_CHANNELS
#pragma unroll 1
  for (int k = begin; k < end; ++k) {
    const MmaWeights weights = WEIGHTS_OF(0, k);
    int ky[2];
    int kx[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int tap = 8 * k + lane_block + e;
      ky[e] = tap / window.y;
      kx[e] = (tap - ky[e] * window.y) * step.w;
      // Beyond the last tap, no row of the image.
      ky[e] = tap < taps ? ky[e] * step.z : -0x40000000;
    }
    Mma8 b[TILES];
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      Mma4 v[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int in_y = in_y0[i] + ky[e];
        const int in_x = in_x0[i] + kx[e];
        v[e] = (Mma4)(0);
        if (in_y >= 0 && in_y < input_dims.x && in_x >= 0 &&
            in_x < input_dims.y) {
          v[e] = READ_FEW(input, in_row[i] + in_y, in_x);
        }
      }
      b[i] = (Mma8)(v[0], v[1]);
    }
    MMA_ACCUMULATE(sums, weights, b, tiles);
  }
#else
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
      const MmaWeights weights = WEIGHTS_OF(tap * tap_units, chunk);
      // All are loaded before the first is used.
      Mma8 b[TILES];
#pragma unroll
      for (int i = 0; i < TILES; ++i) {
        b[i] = mma8_zero();
        if (in_y[i] >= 0) {
          b[i] = READ8(input, in_row[i] + in_y[i], in_x[i],
                       chunk * 8 + lane_block);
        }
      }
      MMA_ACCUMULATE(sums, weights, b, tiles);
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
    if (i >= tiles) continue;
    memory[(warp * 2 * TILES + 2 * i) * 32 + lane] = sums[i].low;
    memory[(warp * 2 * TILES + 2 * i + 1) * 32 + lane] = sums[i].high;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int c = channel_block * 8 + lane / 4;
  if (c >= output_dims.z) return;
  const float4 bias4 = convert_float4(BIAS(c));
#pragma unroll 1
  for (int i = warp_k; i < tiles; i += warps_k) {
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
