// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/line.clh"

// OF_INTS: of int32, whose sums wrap around, as those of uint do. `exclusive`
// and `reverse` are the attributes. The items of a line sum up GROUP elements
// after the other, and add what came before.

#ifdef OF_INTS
#define SUM uint
#define SUM4 uint4
#define LOAD(row, col, block) as_uint4(READ_INT(input, row, col, block))
#define STORE(row, col, block, v) \
  WRITE_INT(output, row, col, block, as_int4(v))
#else
#define SUM float
#define SUM4 float4
#define LOAD(row, col, block) convert_float4(READ(input, row, col, block))
#define STORE(row, col, block, v) \
  WRITE(output, row, col, block, convert_real4(v))
#endif

// Adds the values of the items before this one to `before`, those of all items
// to `total`.
#if GROUP > 1
#define DEFINE_GROUP_SCAN(name, type)                                  \
  LOCAL_FUNCTION void name(type v, type *before, type *total,          \
                           __local type *shared) {                     \
    const int line = get_local_id(0);                                  \
    const int item = get_local_id(1);                                  \
    const int at = item * NEIGHBOURS + line;                           \
    shared[at] = v;                                                    \
    barrier(CLK_LOCAL_MEM_FENCE);                                      \
    for (int step = 1; step < GROUP; step *= 2) {                      \
      type other = 0;                                                  \
      if (item >= step) other = shared[at - step * NEIGHBOURS];        \
      barrier(CLK_LOCAL_MEM_FENCE);                                    \
      shared[at] += other;                                             \
      barrier(CLK_LOCAL_MEM_FENCE);                                    \
    }                                                                  \
    if (item > 0) *before += shared[at - NEIGHBOURS];                  \
    *total += shared[(GROUP - 1) * NEIGHBOURS + line];                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                      \
  }
#else
#define DEFINE_GROUP_SCAN(name, type)                                  \
  LOCAL_FUNCTION void name(type v, type *before, type *total,          \
                           __local type *shared) {                     \
    *total += v;                                                       \
  }
#endif

#ifdef KERNEL_cum_sum_channels
DEFINE_GROUP_SCAN(group_scan, SUM)

// Items: (pixels, GROUP).
__kernel LINE_GROUP void cum_sum_channels(IN(input), OUT(output), LINE_ARGS,
                                          const int exclusive,
                                          const int reverse) {
  LINE_LOCAL(SUM, shared);
  const int line = get_global_id(0);
  const int2 place = pixel_place(min(line, line_count - 1), input_dims);
  SUM total = 0;
  for (int begin = 0; begin < input_dims.z; begin += GROUP) {
    const int index = begin + LINE_ITEM;
    const bool inside = index < input_dims.z;
    const int c = reverse ? input_dims.z - 1 - index : index;
    SUM4 v = 0;
    if (inside) {
      const int4 lanes = (int4)(0, 1, 2, 3) + 4 * c;
      v = LOAD(place.x, place.y, c);
      v = lanes < input_dims.w ? v : (SUM4)(0);
    }
    if (reverse) v = v.wzyx;
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    SUM before = total;
    group_scan(v.w, &before, &total, shared);
    if (exclusive) v = (SUM4)(0, v.xyz);
    v += before;
    if (reverse) v = v.wzyx;
    if (inside && line < line_count) STORE(place.x, place.y, c, v);
  }
}
#endif

#ifdef KERNEL_cum_sum_pixels
DEFINE_GROUP_SCAN(group_scan, SUM4)

// Items: (lines, GROUP).
__kernel LINE_GROUP void cum_sum_pixels(IN(input), OUT(output), LINE_ARGS,
                                        const int exclusive,
                                        const int reverse) {
  LINE_LOCAL(SUM4, shared);
  const int line = get_global_id(0);
  const int pixel = min(line, line_count - 1) / input_dims.z;
  const int c = min(line, line_count - 1) - pixel * input_dims.z;
  const int2 start = line_start(line_place(pixel, line_shape), line_shape);
  SUM4 total = 0;
  for (int begin = 0; begin < line_length; begin += GROUP) {
    const int index = begin + LINE_ITEM;
    const bool inside = index < line_length;
    const int step = reverse ? line_length - 1 - index : index;
    const int2 at = start + step * line_step;
    SUM4 v = 0;
    if (inside) v = LOAD(at.x, at.y, c);
    SUM4 before = total;
    group_scan(v, &before, &total, shared);
    if (!exclusive) before += v;
    if (inside && line < line_count) STORE(at.x, at.y, c, before);
  }
}
#endif
