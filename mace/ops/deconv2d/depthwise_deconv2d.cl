// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/depthwise.clh"
#include "mace/kernels/opencl/epilogue.clh"
#include "mace/kernels/opencl/transposed.clh"

// down    of transposed.clh: (KH, vertical stride, dilation, top padding)
// across  (KW, horizontal stride, dilation, left padding)
// step    from tap to tap: (kernel row, input row, kernel column, input column)
//
// Items: (blocks of output channels, W, rows).
__kernel void depthwise_deconv2d(IN(input), CONST(filter), BIAS_ARG OUT(output),
                                 ACT_ARG, const int4 down, const int4 across,
                                 const int4 step MULTIPLIER_ARG) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  FIND_INPUTS
  const int n = y / output_dims.x;
  const int2 row0 = first_tap(y - n * output_dims.x, down, step.xy);
  const int2 column0 = first_tap(x, across, step.zw);
  float4 sum = convert_float4(BIAS(c));
  int in_y = row0.y;
  for (int ky = row0.x; ky < down.x; ky += step.x, in_y -= step.y) {
    if (in_y < 0 || in_y >= input_dims.x) continue;
    int in_x = column0.y;
    for (int kx = column0.x; kx < across.x; kx += step.z, in_x -= step.w) {
      if (in_x < 0 || in_x >= input_dims.y) continue;
      sum = mad(convert_float4(READ_INPUTS(n * input_dims.x + in_y, in_x)),
                convert_float4(WEIGHTS(ky * across.x + kx)), sum);
    }
  }
  WRITE(output, y, x, c, convert_real4(ACTIVATE_FLOAT(sum)));
}
