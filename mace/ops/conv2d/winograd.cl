// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/epilogue.clh"

// The transforms of Winograd's method, F(2x2, 3x3) and F(4x4, 3x3), whose points
// are those of the CPU (mace/kernels/cpu/winograd/winograd.h). Points are tensors
// [POINTS * POINTS, N * tiles in a column, tiles in a row, C]; between the two
// transforms, each point is a matrix product (KERNEL_conv2d with PRODUCT).
// Arithmetic is in float: in half, the differences would lose what the sums need.

#if defined(KERNEL_winograd2_input) || defined(KERNEL_winograd2_output)
#define WINOGRAD_INPUT winograd2_input
#define WINOGRAD_OUTPUT winograd2_output
#define OUTPUTS 2
#define POINTS 4
static float4 point_of(const float4 *d, int i) {
  return i == 0 ? d[0] - d[2] : i == 1 ? d[1] + d[2] : i == 2 ? d[2] - d[1] : d[1] - d[3];
}
__constant float kOutput[OUTPUTS][POINTS] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
#else
#define WINOGRAD_INPUT winograd4_input
#define WINOGRAD_OUTPUT winograd4_output
#define OUTPUTS 4
#define POINTS 6
// Of the points 0, a, -a, b, -b, infinity: a = 3/4, b = 3/2.
static float4 point_of(const float4 *d, int i) {
  if (i == 0 || i == 5) {
    const int s = i == 5;
    return mad(d[s], 1.265625f, mad(d[2 + s], -2.8125f, d[4 + s]));
  }
  const float other = i < 3 ? 2.25f : 0.5625f;  // b * b, or a * a
  const float point = i < 3 ? 0.75f : 1.5f;
  const float4 even = mad(d[2], -other, d[4]);
  const float4 odd = mad(d[1], -other, d[3]) * point;
  return i % 2 == 1 ? even + odd : even - odd;
}
__constant float kOutput[OUTPUTS][POINTS] = {
    {1, 1, 1, 1, 1, 0},
    {0, 0.75f, -0.75f, 1.5f, -1.5f, 0},
    {0, 0.5625f, 0.5625f, 2.25f, 2.25f, 0},
    {0, 0.421875f, -0.421875f, 3.375f, -3.375f, 1}};
#endif

#define EACH(i, count) _Pragma("unroll") for (int i = 0; i < count; ++i)

#if defined(KERNEL_winograd2_input) || defined(KERNEL_winograd4_input)
// An item computes half of the rows of a tile's points, which needs few enough
// registers, for one block of channels.
//
// Items: blocks of C and tiles in a row, where CHANNEL_AXIS is the dimension of
// the former; 2 * rows of tiles.
#define ROWS (POINTS / 2)
#define TRANSFORM(first)                                                       \
  float4 columns[ROWS][POINTS];                                                \
  EACH(j, POINTS) {                                                            \
    float4 v[POINTS];                                                          \
    const int col = in_x0 + j;                                                 \
    EACH(i, POINTS) {                                                          \
      const int row = in_y0 + i;                                               \
      const bool inside =                                                      \
          col >= 0 && col < input_dims.y && row >= 0 && row < input_dims.x;    \
      const PIXEL_TYPE(input) at =                                             \
          inside ? FIND_PIXEL(input, n * input_dims.x + row, col)              \
                 : OUTSIDE(input);                                             \
      v[i] = convert_float4(READ_OR_ZERO(input, at, c));                       \
    }                                                                          \
    EACH(r, ROWS) columns[r][j] = point_of(v, first + r);                      \
  }                                                                            \
  EACH(r, ROWS) {                                                              \
    EACH(s, POINTS) {                                                          \
      const int point = (first + r) * POINTS + s;                              \
      WRITE(points, point * points_dims.x + y, x, c,                           \
            convert_real4(point_of(columns[r], s)));                           \
    }                                                                          \
  }

__kernel void WINOGRAD_INPUT(IN(input), OUT(points), const int2 border,
                             const int tile_rows) {
  const int c = get_global_id(CHANNEL_AXIS);
  const int x = get_global_id(1 - CHANNEL_AXIS);
  const int y = get_global_id(2) / 2;
  if (c >= points_dims.z || x >= points_dims.y) return;
  const int n = y / tile_rows;
  const int in_y0 = (y - n * tile_rows) * OUTPUTS - border.x;
  const int in_x0 = x * OUTPUTS - border.y;
  if (get_global_id(2) % 2 == 0) {
    TRANSFORM(0)
  } else {
    TRANSFORM(ROWS)
  }
}
#endif

#if defined(KERNEL_winograd2_output) || defined(KERNEL_winograd4_output)
// An item computes the outputs of a tile for one block of channels.
//
// Items: blocks of C and tiles in a row, as above; rows of tiles.
__kernel void WINOGRAD_OUTPUT(IN(points), BIAS_ARG RESIDUAL_ARG OUT(output),
                              ACT_ARG) {
  const int c = get_global_id(CHANNEL_AXIS);
  const int x = get_global_id(1 - CHANNEL_AXIS);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= points_dims.y) return;
  float4 sum[OUTPUTS][OUTPUTS];
  const float4 bias4 = convert_float4(BIAS(c));
  EACH(r, OUTPUTS) EACH(s, OUTPUTS) sum[r][s] = bias4;
  // Unrolled, all points would be in registers at once.
#pragma unroll 1
  for (int j = 0; j < POINTS; ++j) {
    float4 column[OUTPUTS];
    EACH(r, OUTPUTS) column[r] = (float4)(0);
    EACH(i, POINTS) {
      const int row = (i * POINTS + j) * points_dims.x + y;
      const float4 v = convert_float4(READ(points, row, x, c));
      EACH(r, OUTPUTS) {
        if (kOutput[r][i] != 0) column[r] = mad(v, kOutput[r][i], column[r]);
      }
    }
    EACH(r, OUTPUTS) {
      EACH(s, OUTPUTS) sum[r][s] = mad(column[r], kOutput[s][j], sum[r][s]);
    }
  }
  const int tile_rows = (output_dims.x + OUTPUTS - 1) / OUTPUTS;
  const int n = y / tile_rows;
  const int out_y = (y - n * tile_rows) * OUTPUTS;
  const int row = n * output_dims.x + out_y;
  const int col = x * OUTPUTS;
#define EACH_OUTPUT                       \
  EACH(r, OUTPUTS) EACH(s, OUTPUTS)       \
  if (out_y + r < output_dims.x && col + s < output_dims.y)
  if (has_residual) {
    EACH_OUTPUT { sum[r][s] += convert_float4(RESIDUAL(row + r, col + s, c)); }
  }
  EACH_OUTPUT {
    WRITE(output, row + r, col + s, c, ACTIVATE(convert_real4(sum[r][s])));
  }
}
#endif
