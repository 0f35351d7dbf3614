// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/broadcast.clh"

// OF_INTS: a, b and the output are int32. Items: (blocks of C, W, rows) of the
// output.
__kernel void choose(IN(condition), BROADCAST(condition), IN(a), BROADCAST(a),
                     IN(b), BROADCAST(b), OUT(output), BROADCAST_OUTPUT) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  BROADCAST_READ_INT(holds, condition)
#ifdef OF_INTS
  BROADCAST_READ_INT(va, a)
  BROADCAST_READ_INT(vb, b)
  WRITE_INT(output, y, x, c, holds != 0 ? va : vb);
#else
  BROADCAST_READ(va, a)
  BROADCAST_READ(vb, b)
  const float4 chosen =
      holds != 0 ? convert_float4(va) : convert_float4(vb);
  WRITE(output, y, x, c, convert_real4(chosen));
#endif
}
