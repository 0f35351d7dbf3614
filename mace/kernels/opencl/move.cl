// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/values.clh"

// Copies elements to other positions; struct Move in move.h says which. A unit
// is a block where the macro BLOCKS is set, or else an element. The output's
// units are counted along up to RANK axes, innermost first, whose sizes and
// steps in the input are arguments.

#if RANK > 4
#define AXES_ARG                                                       \
  const int4 sizes, const int4 steps, const int4 outer_sizes, \
      const int4 outer_steps
#define AXES sizes, steps, outer_sizes, outer_steps
#else
#define AXES_ARG const int4 sizes, const int4 steps
#define AXES sizes, steps
#endif

#define ALONG(size, step)             \
  {                                   \
    const int next = i / (size);      \
    at += (i - next * (size)) * step; \
    i = next;                         \
  }

// The position in the input, without the offset, of unit i of the output.
int source_of(int i, AXES_ARG) {
  int at = 0;
#if RANK > 1
  ALONG(sizes.x, steps.x)
  ALONG(sizes.y, steps.y)
  ALONG(sizes.z, steps.z)
#if RANK > 4
  ALONG(sizes.w, steps.w)
  ALONG(outer_sizes.x, outer_steps.x)
  ALONG(outer_sizes.y, outer_steps.y)
  ALONG(outer_sizes.z, outer_steps.z)
  return at + i * outer_steps.w;
#else
  return at + i * steps.w;
#endif
#else
  return i * steps.x;
#endif
}

#ifdef KERNEL_move
// Items: (blocks of C, W, rows) of the output.
__kernel void move(IN(input), OUT(output), const int offset, AXES_ARG) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int first = FIRST_UNIT(output_dims, y, x, c);
#ifdef BLOCKS
  const int from = offset + source_of(first, AXES);
  const value4 v = READ_VALUE_BLOCK(input, from);
#else
  const int count = output_dims.w - 4 * c;
  int from = offset + source_of(first, AXES);
  value4 v = (value4)(READ_VALUE(input, from), 0, 0, 0);
  if (count > 1) {
    from = offset + source_of(first + 1, AXES);
    v.y = READ_VALUE(input, from);
  }
  if (count > 2) {
    from = offset + source_of(first + 2, AXES);
    v.z = READ_VALUE(input, from);
  }
  if (count > 3) {
    from = offset + source_of(first + 3, AXES);
    v.w = READ_VALUE(input, from);
  }
#endif
  WRITE_VALUES(output, y, x, c, v);
}
#endif
