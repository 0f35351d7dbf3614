// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/quantization.clh"

// Items: (blocks of C, W, rows).
__kernel void dequantize(IN(input), OUT(output), QUANTIZATION_ARGS) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  READ_QUANTIZATION(y, x, c)
  // Modulo 2^32.
  const uint4 steps = as_uint4(READ_INT(input, y, x, c)) - as_uint4(zeros);
  const float4 v = convert_float4(as_int4(steps)) * scales;
  WRITE(output, y, x, c, convert_real4(v));
}
