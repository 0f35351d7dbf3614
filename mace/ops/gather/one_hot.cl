// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"

// OF_INTS: the values are int32. `inner` elements are after the new axis, of
// length `depth`. Items: (blocks of C, W, rows) of the output.
__kernel void one_hot(IN(indices), IN(values), OUT(output), const int depth,
                      const int inner, const int wrap) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int4 at = elements_at(output_dims, y, x, c);
  const int4 line = at / inner;
  const int4 outer = line / depth;
  READ_INT_ELEMENTS(index, indices, outer * inner + (at - line * inner))
  if (wrap) index = select(index, index + depth, index < 0);
  const int4 is_on = index == line - outer * depth;
#ifdef OF_INTS
  const int4 pair = READ_INT(values, 0, 0, 0);
  WRITE_INT(output, y, x, c, select((int4)(pair.x), (int4)(pair.y), is_on));
#else
  const float4 pair = convert_float4(READ(values, 0, 0, 0));
  WRITE(output, y, x, c,
        convert_real4(select((float4)(pair.x), (float4)(pair.y), is_on)));
#endif
}
