// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/epilogue.clh"
#include "mace/kernels/opencl/depthwise.clh"

#ifdef KERNEL_depthwise_unrolled
// Small windows without dilation. Every item computes ROWS x COLUMNS neighbours,
// and reads each of their inputs once; rows of inputs are read one after the
// other, and added to the sums of all outputs that they belong to.
//
// Items: (blocks of output channels, strips of COLUMNS, strips of ROWS).
#define EACH(i, count) _Pragma("unroll") for (int i = 0; i < count; ++i)
#define INPUT_ROWS ((ROWS - 1) * STRIDE_Y + KERNEL_Y)
#define INPUTS ((COLUMNS - 1) * STRIDE_X + KERNEL_X)

__kernel void depthwise_unrolled(IN(input), CONST(filter), BIAS_ARG OUT(output),
                                 ACT_ARG, const int2 border MULTIPLIER_ARG) {
  const int c = get_global_id(0);
  const int x0 = get_global_id(1) * COLUMNS;
  if (c >= output_dims.z || x0 >= output_dims.y) return;
  FIND_INPUTS
  const int strips = (output_dims.x + ROWS - 1) / ROWS;
  const int strip = get_global_id(2);
  const int n = strip / strips;
  const int y0 = (strip - n * strips) * ROWS;
  const int in_y0 = y0 * STRIDE_Y - border.x;
  const int in_x0 = x0 * STRIDE_X - border.y;
#if ROWS > 1
  // Several rows of outputs need them.
  real4 kept[KERNEL_Y * KERNEL_X];
  EACH(i, KERNEL_Y * KERNEL_X) kept[i] = WEIGHTS(i);
#define TAP(i) kept[i]
#else
#define TAP(i) WEIGHTS(i)
#endif
  real4 sum[ROWS][COLUMNS];
  EACH(r, ROWS) EACH(p, COLUMNS) sum[r][p] = BIAS(c);
  EACH(i, INPUT_ROWS) {
    const int in_y = in_y0 + i;
    if (in_y < 0 || in_y >= input_dims.x) continue;
    const int row = n * input_dims.x + in_y;
    real4 in[INPUTS];
    EACH(j, INPUTS) {
      const int in_x = in_x0 + j;
      in[j] = in_x >= 0 && in_x < input_dims.y ? READ_INPUTS(row, in_x)
                                               : (real4)(0);
    }
    EACH(r, ROWS) {
      const int ky = i - r * STRIDE_Y;
      if (ky >= 0 && ky < KERNEL_Y) {
        EACH(kx, KERNEL_X) {
          const real4 weights = TAP(ky * KERNEL_X + kx);
          EACH(p, COLUMNS) {
            sum[r][p] = mad(in[p * STRIDE_X + kx], weights, sum[r][p]);
          }
        }
      }
    }
  }
  EACH(r, ROWS) {
    EACH(p, COLUMNS) {
      if (y0 + r < output_dims.x && x0 + p < output_dims.y) {
        WRITE(output, n * output_dims.x + y0 + r, x0 + p, c,
              ACTIVATE(sum[r][p]));
      }
    }
  }
}
#endif

#ifdef KERNEL_depthwise
// Any window. Large ones would lose too much in sums of half.
//
// window  (KH, KW, vertical stride, horizontal stride)
// step    (vertical dilation, horizontal dilation)
// border  (top, left: rows and columns of padding)
//
// Items: (blocks of output channels, W, rows).
__kernel void depthwise(IN(input), CONST(filter), BIAS_ARG OUT(output), ACT_ARG,
                        const int2 border, const int4 window,
                        const int2 step MULTIPLIER_ARG) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  FIND_INPUTS
  const int n = y / output_dims.x;
  const int in_y0 = (y - n * output_dims.x) * window.z - border.x;
  const int in_x0 = x * window.w - border.y;
  float4 sum = convert_float4(BIAS(c));
  for (int ky = 0; ky < window.x; ++ky) {
    const int in_y = in_y0 + ky * step.x;
    if (in_y < 0 || in_y >= input_dims.x) continue;
    const int row = n * input_dims.x + in_y;
    for (int kx = 0; kx < window.y; ++kx) {
      const int in_x = in_x0 + kx * step.y;
      if (in_x < 0 || in_x >= input_dims.y) continue;
      sum = mad(convert_float4(READ_INPUTS(row, in_x)),
                convert_float4(WEIGHTS(ky * window.y + kx)), sum);
    }
  }
  WRITE(output, y, x, c, convert_real4(ACTIVATE_FLOAT(sum)));
}
#endif
