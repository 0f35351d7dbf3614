// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/values.clh"

// Copies elements to other positions; struct Move in move.h says which. A unit
// is a block where the macro BLOCKS is set, or else an element. The output's
// units are counted along up to RANK axes, innermost first, whose sizes and
// steps in the input are arguments.

#ifdef KERNEL_move
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
static int source_of(int i, AXES_ARG) {
#if RANK > 1
  int at = 0;
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

#ifdef KERNEL_transpose
// The channels of the input are one axis of the output, and those of the output
// one of the input: an item moves 4 by 4 elements, so that all of its reads and
// writes are of blocks. Steps count blocks.
//
//   sizes      of the other axes, innermost first
//   steps      in the input along them
//   out_steps  in the output
//   cross      (step in the input along the output's channels, step in the
//              output along the input's channels, offset in the input)
//
// Items: (blocks of the output's C, of the input's C, product of sizes).
__kernel __attribute__((reqd_work_group_size(GROUP, GROUP, 1)))
void transpose(IN(input), OUT(output), const int4 sizes, const int4 steps,
               const int4 out_steps, const int4 cross) {
  const int c = get_global_id(0);
  const int j = get_global_id(1);
  if (c >= output_dims.z || j >= input_dims.z) return;
  int rest = get_global_id(2);
  int from = cross.z + 4 * c * cross.x + j;
  int to = 4 * j * cross.y + c;
#define ALONG(lane)                                \
  {                                                \
    const int next = rest / sizes.lane;            \
    const int at = rest - next * sizes.lane;       \
    from += at * steps.lane;                       \
    to += at * out_steps.lane;                     \
    rest = next;                                   \
  }
  ALONG(x)
  ALONG(y)
  ALONG(z)
  ALONG(w)
  // What is read twice goes where nothing reads it.
  const int last = output_dims.w - 1 - 4 * c;
  const int from1 = from + min(1, last) * cross.x;
  const int from2 = from + min(2, last) * cross.x;
  const int from3 = from + min(3, last) * cross.x;
  const value4 v0 = READ_VALUE_BLOCK(input, from);
  const value4 v1 = READ_VALUE_BLOCK(input, from1);
  const value4 v2 = READ_VALUE_BLOCK(input, from2);
  const value4 v3 = READ_VALUE_BLOCK(input, from3);
  const int count = input_dims.w - 4 * j;
  WRITE_VALUE_BLOCK(output, to, (value4)(v0.x, v1.x, v2.x, v3.x));
  to += cross.y;
  if (count > 1) {
    WRITE_VALUE_BLOCK(output, to, (value4)(v0.y, v1.y, v2.y, v3.y));
    to += cross.y;
  }
  if (count > 2) {
    WRITE_VALUE_BLOCK(output, to, (value4)(v0.z, v1.z, v2.z, v3.z));
    to += cross.y;
  }
  if (count > 3) {
    WRITE_VALUE_BLOCK(output, to, (value4)(v0.w, v1.w, v2.w, v3.w));
  }
}
#endif
