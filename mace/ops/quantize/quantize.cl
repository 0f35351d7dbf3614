// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/quantization.clh"

// From `low` to `low` + 255. Items: (blocks of C, W, rows).
__kernel void quantize(IN(input), OUT(output), QUANTIZATION_ARGS,
                       const int low) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  READ_QUANTIZATION(y, x, c)
  const float4 v = rint(convert_float4(READ(input, y, x, c)) / scales);
  // A NaN is 0, and infinity stays large when the zero point is added.
  const float4 steps = select(v, (float4)(0), isnan(v)) + convert_float4(zeros);
  WRITE_INT(output, y, x, c, clamp(convert_int4_sat(steps), low, low + 255));
}
