// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"

#ifdef KERNEL_activation
// Items: (blocks of C, W, rows).
__kernel void activation(IN(input), OUT(output), ACT_ARG) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  WRITE(output, y, x, c, ACTIVATE(READ(input, y, x, c)));
}
#endif

#ifdef KERNEL_prelu
// `slope` has one element for each channel, or one alone.
__kernel void prelu(IN(input), IN(slope), OUT(output)) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const real4 v = READ(input, y, x, c);
  const real4 s = slope_dims.w == 1 ? (real4)(READ(slope, 0, 0, 0).x)
                                    : READ(slope, 0, 0, c);
  WRITE(output, y, x, c, v < 0 ? s * v : v);
}
#endif
