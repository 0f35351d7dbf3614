// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"

// OF_BYTES: the input is int8 or uint8, and converted.

#ifdef OF_BYTES
#define READ_REAL(t, y, x, c) convert_real4(READ_INT(t, y, x, c))
#else
#define READ_REAL READ
#endif

// Items: (blocks of C, W, rows).
__kernel void batch_norm(IN(input), CONST(scale), CONST(offset), OUT(output),
                         ACT_ARG) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const real4 v =
      READ_REAL(input, y, x, c) * LOAD4(scale, c) + LOAD4(offset, c);
  WRITE(output, y, x, c, ACTIVATE(v));
}
