// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"

// Items: (blocks of C, W, rows).

#ifdef KERNEL_nearest
// `rows` and `columns` have the row and the column of the input for each of the
// output. INTEGER: the elements are int32.
__kernel void nearest(IN(input), OUT(output), TABLE(rows), TABLE(columns)) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int n = y / output_dims.x;
  const int row = n * input_dims.x + rows[y - n * output_dims.x];
#ifdef INTEGER
  WRITE_INT(output, y, x, c, READ_INT(input, row, columns[x], c));
#else
  WRITE(output, y, x, c, READ(input, row, columns[x], c));
#endif
}
#endif

#ifdef KERNEL_resize
// `rows` and `columns` have 1 + taps (.x, .y) numbers for each of the output:
// the first row or column of the input, and the weights of it and those that
// follow, as floats.
__kernel void resize(IN(input), OUT(output), TABLE(rows), TABLE(columns),
                     const int2 taps) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int n = y / output_dims.x;
  const int down = (y - n * output_dims.x) * (taps.x + 1);
  const int across = x * (taps.y + 1);
  const int row = n * input_dims.x + rows[down];
  const int column = columns[across];
  float4 sum = (float4)(0);
  for (int i = 0; i < taps.x; ++i) {
    const float by_row = as_float(rows[down + 1 + i]);
    if (by_row == 0) continue;
    float4 part = (float4)(0);
    for (int j = 0; j < taps.y; ++j) {
      const float by_column = as_float(columns[across + 1 + j]);
      // Also not where the element is Inf or NaN.
      if (by_column == 0) continue;
      part = mad(convert_float4(READ(input, row + i, column + j, c)),
                 (float4)(by_column), part);
    }
    sum = mad(part, (float4)(by_row), sum);
  }
  WRITE(output, y, x, c, convert_real4(sum));
}
#endif
