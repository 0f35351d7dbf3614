// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/line.clh"

// Whether element q, at index j, is wanted more than p, at i. An index of -1 is
// that of no element. A NaN is more extreme than any number. Of equal elements,
// the first one is wanted, or, if `order` is -1, the last one.
static int4 is_better(float4 q, int4 j, float4 p, int4 i, int order) {
  const int4 equal_ones = q == p || (isnan(q) && isnan(p));
  const int4 above = q > p || (isnan(q) && !isnan(p));
  return j >= 0 && (i < 0 || above || (equal_ones && order * j < order * i));
}

#define TAKE_BETTER(best, index, v, j)                       \
  {                                                          \
    const int4 better = is_better(v, j, best, index, order); \
    best = select(best, v, better);                          \
    index = select(index, j, better);                        \
  }

// Leaves the best of all items of a line to each of them.
LOCAL_FUNCTION void group_best(float4 *best, int4 *index, __local float4 *values,
                               __local int4 *indices, int order) {
#if GROUP > 1
  const int line = get_local_id(0);
  const int item = get_local_id(1);
  const int at = item * NEIGHBOURS + line;
  values[at] = *best;
  indices[at] = *index;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    if (item < half_group) {
      const float4 v = values[at + half_group * NEIGHBOURS];
      const int4 j = indices[at + half_group * NEIGHBOURS];
      TAKE_BETTER(*best, *index, v, j)
      values[at] = *best;
      indices[at] = *index;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  *best = values[line];
  *index = indices[line];
#endif
}

#ifdef KERNEL_arg_channels
// `sign` is -1 for the smallest element. Items: (pixels, GROUP).
__kernel LINE_GROUP void arg_channels(IN(input), OUT(output), LINE_ARGS,
                                      const float sign, const int order) {
  LINE_LOCAL(float4, values);
  LINE_LOCAL(int4, indices);
  const int line = get_global_id(0);
  const int2 place = pixel_place(min(line, line_count - 1), input_dims);
  float4 best = 0;
  int4 index = -1;
  for (int c = LINE_ITEM; c < input_dims.z; c += GROUP) {
    const float4 v = sign * convert_float4(READ(input, place.x, place.y, c));
    const int4 channel = (int4)(0, 1, 2, 3) + 4 * c;
    const int4 j = select((int4)(-1), channel, channel < input_dims.w);
    TAKE_BETTER(best, index, v, j)
  }
  group_best(&best, &index, values, indices, order);
  // The best of the four lanes, in the first one.
  {
    const float4 v = best.zwxy;
    const int4 j = index.zwxy;
    TAKE_BETTER(best, index, v, j)
  }
  {
    const float4 v = best.yxwz;
    const int4 j = index.yxwz;
    TAKE_BETTER(best, index, v, j)
  }
  if (line >= line_count || LINE_ITEM > 0) return;
  WRITE_INT(output, place.x, place.y, 0, index);
}
#endif

#ifdef KERNEL_arg_pixels
// Items: (lines, GROUP).
__kernel LINE_GROUP void arg_pixels(IN(input), OUT(output), LINE_ARGS,
                                    const float sign, const int order) {
  LINE_LOCAL(float4, values);
  LINE_LOCAL(int4, indices);
  const int line = get_global_id(0);
  const int pixel = min(line, line_count - 1) / input_dims.z;
  const int c = min(line, line_count - 1) - pixel * input_dims.z;
  const int2 place = line_place(pixel, line_shape);
  const int2 start = line_start(place, line_shape);
  float4 best = 0;
  int4 index = -1;
  for (int i = LINE_ITEM; i < line_length; i += GROUP) {
    const int2 at = start + i * line_step;
    const float4 v = sign * convert_float4(READ(input, at.x, at.y, c));
    const int4 j = i;
    TAKE_BETTER(best, index, v, j)
  }
  group_best(&best, &index, values, indices, order);
  if (line >= line_count || LINE_ITEM > 0) return;
  WRITE_INT(output, place.x, place.y, c, index);
}
#endif
