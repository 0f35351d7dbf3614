// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/values.clh"

// params is [outer, length, inner], indices is [count], output is [outer,
// count, inner]; inner counts blocks where the macro BLOCKS is set, or else
// elements. A negative index counts from the end. An index outside the axis
// takes its nearest position, as nothing may be read outside.
//
//   axis  (length, count, inner)
//
// Items: (blocks of C, W, rows) of the output.

#ifdef KERNEL_gather

static int nearest(int index, int length) {
  return clamp(index < 0 ? index + length : index, 0, length - 1);
}

// Reads unit i of the output.
#define GATHER(read, v, i)                                     \
  {                                                            \
    const int slice = (i) / axis.z;                            \
    const int outer = slice / axis.y;                          \
    const int index = slice - outer * axis.y;                  \
    const int row = outer * axis.x +                           \
                    nearest(READ_INT_ELEMENT(indices, index), axis.x); \
    const int from = row * axis.z + (i) - slice * axis.z;      \
    v = read(params, from);                                    \
  }

__kernel void gather(IN(params), IN(indices), OUT(output), const int4 axis) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int first = FIRST_UNIT(output_dims, y, x, c);
  value4 v = (value4)(0);
#ifdef BLOCKS
  GATHER(READ_VALUE_BLOCK, v, first)
#else
  const int count = output_dims.w - 4 * c;
  GATHER(READ_VALUE, v.x, first)
  if (count > 1) GATHER(READ_VALUE, v.y, first + 1)
  if (count > 2) GATHER(READ_VALUE, v.z, first + 2)
  if (count > 3) GATHER(READ_VALUE, v.w, first + 3)
#endif
  WRITE_VALUES(output, y, x, c, v);
}
#endif
