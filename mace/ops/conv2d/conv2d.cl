// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/epilogue.clh"

// Shapes and windows of a convolution. Filters are CL_PACKED_O16:
// [groups][ceil(O / groups / 16)][KH * KW * I][16], I = C / groups.
//
// window  (KH, KW, I, O / groups)
// step    (vertical stride, horizontal stride, vertical dilation, horizontal)
// border  (top, left: rows and columns of padding)

#ifdef KERNEL_conv2d
// Every item computes PIXELS neighbours in a row for one block of channels.
// Groups have whole blocks of input and output channels, except where there is
// one group; TAIL is the number of channels in the input's last block if it is
// incomplete.
//
// Items: (blocks of O, strips of PIXELS, rows).
#define MULTIPLY(weights, lane)                \
  _Pragma("unroll") for (int p = 0; p < PIXELS; ++p) { \
    sum[p] = mad((real4)(in[p].lane), weights, sum[p]); \
  }

__kernel void conv2d(IN(input), CONST(filter), BIAS_ARG RESIDUAL_ARG OUT(output),
                     ACT_ARG, const int4 window, const int4 step,
                     const int2 border) {
  const int c = get_global_id(0);
  const int x0 = get_global_id(1) * PIXELS;
  const int y = get_global_id(2);
  if (c >= output_dims.z || x0 >= output_dims.y) return;
  const int n = y / output_dims.x;
  const int group = 4 * c / window.w;
  const int in_group = c - group * (window.w / 4);  // block of the group
  const int group_blocks = (window.w + 15) / 16;
  const int first_in = group * (window.z / 4);
  const int full = window.z / 4;
  const int k_count = window.x * window.y * window.z;
  PACKED(filter, start, group * group_blocks + in_group / 4, in_group % 4,
         k_count);
  int weight = start;

  real4 sum[PIXELS];
  for (int p = 0; p < PIXELS; ++p) sum[p] = BIAS(c);
  const int in_y0 = (y - n * output_dims.x) * step.x - border.x;
  for (int ky = 0; ky < window.x; ++ky) {
    const int in_y = in_y0 + ky * step.z;
    if (in_y < 0 || in_y >= input_dims.x) {
      weight += window.y * window.z * 4;
      continue;
    }
    const int row = n * input_dims.x + in_y;
    for (int kx = 0; kx < window.y; ++kx) {
      int in_x[PIXELS];
      for (int p = 0; p < PIXELS; ++p) {
        in_x[p] = (x0 + p) * step.y - border.y + kx * step.w;
      }
      for (int i = 0; i < full; ++i) {
        real4 in[PIXELS];
        for (int p = 0; p < PIXELS; ++p) {
          in[p] = (in_x[p] >= 0 && in_x[p] < input_dims.y)
                      ? READ(input, row, in_x[p], first_in + i)
                      : (real4)(0);
        }
        MULTIPLY(LOAD4(filter, weight), x)
        MULTIPLY(LOAD4(filter, weight + 4), y)
        MULTIPLY(LOAD4(filter, weight + 8), z)
        MULTIPLY(LOAD4(filter, weight + 12), w)
        weight += 16;
      }
#if TAIL > 0
      real4 in[PIXELS];
      for (int p = 0; p < PIXELS; ++p) {
        in[p] = (in_x[p] >= 0 && in_x[p] < input_dims.y)
                    ? READ(input, row, in_x[p], first_in + full)
                    : (real4)(0);
      }
      MULTIPLY(LOAD4(filter, weight), x)
#if TAIL > 1
      MULTIPLY(LOAD4(filter, weight + 4), y)
#endif
#if TAIL > 2
      MULTIPLY(LOAD4(filter, weight + 8), z)
#endif
      weight += TAIL * 4;
#endif
    }
  }
  for (int p = 0; p < PIXELS; ++p) {
    if (x0 + p >= output_dims.y) break;
    WRITE(output, y, x0 + p, c, ACTIVATE(ADD_RESIDUAL(sum[p], y, x0 + p, c)));
  }
}
#endif

#ifdef KERNEL_conv2d_groups
// Groups whose channels are not whole blocks: an item computes four channels of
// one pixel, each of which may be of another group.
//
// Items: (blocks of O, W, rows).
__kernel void conv2d_groups(IN(input), CONST(filter),
                            BIAS_ARG RESIDUAL_ARG OUT(output), ACT_ARG,
                            const int4 window, const int4 step,
                            const int2 border) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int n = y / output_dims.x;
  const int group_blocks = (window.w + 15) / 16;
  const int k_count = window.x * window.y * window.z;
  const int in_y0 = (y - n * output_dims.x) * step.x - border.x;
  const int in_x0 = x * step.y - border.y;
  real sums[4];
  const real4 bias4 = BIAS(c);
  sums[0] = bias4.x;
  sums[1] = bias4.y;
  sums[2] = bias4.z;
  sums[3] = bias4.w;
  for (int lane = 0; lane < 4 && 4 * c + lane < output_dims.w; ++lane) {
    const int group = (4 * c + lane) / window.w;
    const int in_group = 4 * c + lane - group * window.w;
    PACKED(filter, start, group * group_blocks + in_group / 16,
           in_group % 16 / 4, k_count);
    int weight = start;
    for (int ky = 0; ky < window.x; ++ky) {
      const int in_y = in_y0 + ky * step.z;
      for (int kx = 0; kx < window.y; ++kx) {
        const int in_x = in_x0 + kx * step.w;
        const bool inside = in_y >= 0 && in_y < input_dims.x && in_x >= 0 &&
                            in_x < input_dims.y;
        for (int i = 0; inside && i < window.z; ++i) {
          const int channel = group * window.z + i;
          const real4 v = READ(input, n * input_dims.x + in_y, in_x,
                               channel / 4);
          const real4 w = LOAD4(filter, weight + i * 4);
          sums[lane] += lane_of_real4(v, channel % 4) *
                        lane_of_real4(w, in_group % 4);
        }
        weight += window.z * 4;
      }
    }
  }
  const real4 sum = (real4)(sums[0], sums[1], sums[2], sums[3]);
  WRITE(output, y, x, c, ACTIVATE(ADD_RESIDUAL(sum, y, x, c)));
}
#endif
