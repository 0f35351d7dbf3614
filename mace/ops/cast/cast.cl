// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"

// FROM_<type> and TO_<type> are the types of the input and the output.

// Items: (blocks of C, W, rows).
__kernel void cast(IN(input), OUT(output)) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
#ifdef FROM_FLOAT32
  // NaN is 0 as an integer, and true.
  const float4 v = convert_float4(READ(input, y, x, c));
  const int4 truncated = convert_int4_sat(v);
#else
  int4 v = READ_INT(input, y, x, c);
#ifdef FROM_BOOL
  v = -(v != 0);
#endif
  const int4 truncated = v;
#endif
#if defined(TO_FLOAT32)
  WRITE(output, y, x, c, convert_real4(v));
#elif defined(TO_BOOL)
  WRITE_INT(output, y, x, c, -(v != 0));
#elif defined(FROM_FLOAT32) && defined(TO_UINT8)
  WRITE_INT(output, y, x, c, clamp(truncated, 0, 255));
#elif defined(FROM_FLOAT32) && defined(TO_INT8)
  WRITE_INT(output, y, x, c, clamp(truncated, -128, 127));
#else
  WRITE_INT(output, y, x, c, truncated);
#endif
}
