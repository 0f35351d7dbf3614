// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/epilogue.clh"
#include "mace/kernels/opencl/transposed.clh"

// Outputs that are a stride apart have the same kernel elements, and neighbours
// of an input pixel: an item computes such ones.
//
// channels  (I, O) of a group
// down      of transposed.clh: (KH, vertical stride, dilation, top padding)
// across    (KW, horizontal stride, dilation, left padding)
// step      from tap to tap: (kernel row, input row, kernel column, input
//           column)

#ifdef KERNEL_deconv2d
// Every item computes PIXELS outputs of one block of channels. Groups have
// whole blocks of input and output channels, except where there is one group;
// TAIL is the number of channels in the input's last block if it is incomplete.
//
// Items: (blocks of O, the stride times strips of PIXELS, rows).
#define EACH_PIXEL _Pragma("unroll") for (int p = 0; p < PIXELS; ++p)
#define MULTIPLY(weights, lane)                                          \
  {                                                                      \
    const real4 by = weights;                                            \
    EACH_PIXEL { sum[p] = mad((real4)(in[p].lane), by, sum[p]); }        \
  }
#define READ_PIXELS(block)                                               \
  EACH_PIXEL {                                                           \
    in[p] = in_x + p >= 0 && in_x + p < input_dims.y                     \
                ? READ(input, n * input_dims.x + in_y, in_x + p, block)  \
                : (real4)(0);                                            \
  }

__kernel void deconv2d(IN(input), CONST(filter), BIAS_ARG OUT(output), ACT_ARG,
                       const int2 channels, const int4 down, const int4 across,
                       const int4 step) {
  const int c = get_global_id(0);
  const int strip = get_global_id(1) / across.y;
  const int x0 = strip * PIXELS * across.y + get_global_id(1) % across.y;
  const int y = get_global_id(2);
  if (c >= output_dims.z || x0 >= output_dims.y) return;
  const int n = y / output_dims.x;
  const int group = 4 * c / channels.y;
  const int in_group = c - group * (channels.y / 4);  // block of the group
  const int group_blocks = (channels.y + 15) / 16;
  const int full = channels.x / 4;
  const int first_in = group * full;
  PACKED(filter, start, group * group_blocks + in_group / 4, in_group % 4,
         down.x * across.x * channels.x);
  const int2 row0 = first_tap(y - n * output_dims.x, down, step.xy);
  const int2 column0 = first_tap(x0, across, step.zw);

  real4 sum[PIXELS];
  EACH_PIXEL { sum[p] = BIAS(c); }
  int in_y = row0.y;
  for (int ky = row0.x; ky < down.x; ky += step.x, in_y -= step.y) {
    if (in_y < 0 || in_y >= input_dims.x) continue;
    int in_x = column0.y;
    for (int kx = column0.x; kx < across.x; kx += step.z, in_x -= step.w) {
      int at = start + (ky * across.x + kx) * channels.x * 4;
      real4 in[PIXELS];
      for (int i = 0; i < full; ++i, at += 16) {
        READ_PIXELS(first_in + i)
        MULTIPLY(LOAD4(filter, at), x)
        MULTIPLY(LOAD4(filter, at + 4), y)
        MULTIPLY(LOAD4(filter, at + 8), z)
        MULTIPLY(LOAD4(filter, at + 12), w)
      }
#if TAIL > 0
      READ_PIXELS(first_in + full)
      MULTIPLY(LOAD4(filter, at), x)
#if TAIL > 1
      MULTIPLY(LOAD4(filter, at + 4), y)
#endif
#if TAIL > 2
      MULTIPLY(LOAD4(filter, at + 8), z)
#endif
#endif
    }
  }
  EACH_PIXEL {
    const int x = x0 + p * across.y;
    if (x < output_dims.y) WRITE(output, y, x, c, ACTIVATE(sum[p]));
  }
}
#endif

#ifdef KERNEL_deconv2d_groups
// Groups whose channels are not whole blocks: an item computes four channels of
// one pixel, each of which may be of another group.
//
// Items: (blocks of O, W, rows).
__kernel void deconv2d_groups(IN(input), CONST(filter), BIAS_ARG OUT(output),
                              ACT_ARG, const int2 channels, const int4 down,
                              const int4 across, const int4 step) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int n = y / output_dims.x;
  const int group_blocks = (channels.y + 15) / 16;
  const int2 row0 = first_tap(y - n * output_dims.x, down, step.xy);
  const int2 column0 = first_tap(x, across, step.zw);
  const real4 bias4 = BIAS(c);
  real sums[4];
  for (int lane = 0; lane < 4; ++lane) {
    sums[lane] = lane_of_real4(bias4, lane);
    if (4 * c + lane >= output_dims.w) continue;
    const int group = (4 * c + lane) / channels.y;
    const int in_group = 4 * c + lane - group * channels.y;
    PACKED(filter, start, group * group_blocks + in_group / 16,
           in_group % 16 / 4, down.x * across.x * channels.x);
    int in_y = row0.y;
    for (int ky = row0.x; ky < down.x; ky += step.x, in_y -= step.y) {
      if (in_y < 0 || in_y >= input_dims.x) continue;
      int in_x = column0.y;
      for (int kx = column0.x; kx < across.x; kx += step.z, in_x -= step.w) {
        if (in_x < 0 || in_x >= input_dims.y) continue;
        const int at = start + (ky * across.x + kx) * channels.x * 4;
        for (int i = 0; i < channels.x; ++i) {
          const int channel = group * channels.x + i;
          const real4 in = READ(input, n * input_dims.x + in_y, in_x,
                                channel / 4);
          const real4 weights = LOAD4(filter, at + 4 * i);
          sums[lane] += lane_of_real4(in, channel % 4) *
                        lane_of_real4(weights, in_group % 4);
        }
      }
    }
  }
  const real4 sum = (real4)(sums[0], sums[1], sums[2], sums[3]);
  WRITE(output, y, x, c, ACTIVATE(sum));
}
#endif
