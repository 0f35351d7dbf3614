// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/values.clh"

// The units of the output are counted along up to RANK axes, innermost first; a
// unit is a block where the macro BLOCKS is set, or else an element.
// MODE_<name> is a value of the enumeration mode (pad.op.yaml).
//
//   sizes   of the output
//   befores units of padding before the input
//   inputs  sizes of the input
//
// Items: (blocks of C, W, rows) of the output.

#ifdef KERNEL_pad

#if RANK > 4
#define AXES_ARG                                                          \
  const int4 sizes, const int4 befores, const int4 inputs,       \
      const int4 outer_sizes, const int4 outer_befores, \
      const int4 outer_inputs
#define AXES sizes, befores, inputs, outer_sizes, outer_befores, outer_inputs
#else
#define AXES_ARG const int4 sizes, const int4 befores, const int4 inputs
#define AXES sizes, befores, inputs
#endif

// Position i of an axis of n input units, or -1.
static int inside(int i, int n) {
#if defined(MODE_REFLECT)
  return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
#elif defined(MODE_SYMMETRIC)
  return i < 0 ? -i - 1 : i >= n ? 2 * n - 1 - i : i;
#elif defined(MODE_EDGE)
  return clamp(i, 0, n - 1);
#else
  return i < n ? i : -1;
#endif
}

#define ALONG(size, before, input)                            \
  {                                                           \
    const int next = i / (size);                              \
    const int from = inside(i - next * (size) - before, input); \
    outside = outside || from < 0;                            \
    at += from * scale;                                       \
    scale *= input;                                           \
    i = next;                                                 \
  }

// The unit of the input for unit i of the output; -1 for the constant.
static int source_of(int i, AXES_ARG) {
  int at = 0;
  int scale = 1;
  bool outside = false;
  ALONG(sizes.x, befores.x, inputs.x)
  ALONG(sizes.y, befores.y, inputs.y)
  ALONG(sizes.z, befores.z, inputs.z)
  ALONG(sizes.w, befores.w, inputs.w)
#if RANK > 4
  ALONG(outer_sizes.x, outer_befores.x, outer_inputs.x)
  ALONG(outer_sizes.y, outer_befores.y, outer_inputs.y)
  ALONG(outer_sizes.z, outer_befores.z, outer_inputs.z)
  ALONG(outer_sizes.w, outer_befores.w, outer_inputs.w)
#endif
  return outside ? -1 : at;
}

#define LANE(k, lane)                             \
  if (4 * c + k < output_dims.w) {                \
    const int from = source_of(first + k, AXES);  \
    if (from >= 0) v.lane = READ_VALUE(input, from); \
  }

__kernel void pad(IN(input), OUT(output), const float fill, AXES_ARG) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int first = FIRST_UNIT(output_dims, y, x, c);
#ifdef INTEGERS
  value4 v = (value4)(convert_int_sat(fill));
#else
  value4 v = (value4)(convert_real(fill));
#endif
#ifdef BLOCKS
  const int from = source_of(first, AXES);
  if (from >= 0) v = READ_VALUE_BLOCK(input, from);
#else
  LANE(0, x)
  LANE(1, y)
  LANE(2, z)
  LANE(3, w)
#endif
  WRITE_VALUES(output, y, x, c, v);
}
#endif
