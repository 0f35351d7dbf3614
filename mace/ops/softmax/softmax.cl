// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/line.clh"

// With LOG, the logarithm of the result.

#ifdef KERNEL_softmax_channels
DEFINE_GROUP_FOLD(group_sum, float, LINE_ADD)
DEFINE_GROUP_FOLD(group_max, float, LINE_MAX)

// Items: (pixels, GROUP).
__kernel LINE_GROUP void softmax_channels(IN(input), OUT(output), LINE_ARGS) {
  LINE_LOCAL(float, shared);
  const int line = get_global_id(0);
  const int2 place = pixel_place(min(line, line_count - 1), input_dims);
  float most = -INFINITY;
  for (int c = LINE_ITEM; c < input_dims.z; c += GROUP) {
    const float4 v = mask_lanes(
        convert_float4(READ(input, place.x, place.y, c)), input_dims.w, c,
        -INFINITY);
    most = fmax(most, max_of_lanes(v));
  }
  most = group_max(most, shared);
  float sum = 0;
  for (int c = LINE_ITEM; c < input_dims.z; c += GROUP) {
    const float4 v = convert_float4(READ(input, place.x, place.y, c));
    sum += sum_of_lanes(mask_lanes(exp(v - most), input_dims.w, c, 0));
  }
  sum = group_sum(sum, shared);
  if (line >= line_count) return;
#ifdef LOG
  const float shift = log(sum);
#else
  const float factor = 1.0f / sum;
#endif
  for (int c = LINE_ITEM; c < input_dims.z; c += GROUP) {
    const float4 v = convert_float4(READ(input, place.x, place.y, c)) - most;
#ifdef LOG
    const float4 result = v - shift;
#else
    const float4 result = exp(v) * factor;
#endif
    WRITE(output, place.x, place.y, c, convert_real4(result));
  }
}
#endif

#ifdef KERNEL_softmax_pixels
DEFINE_GROUP_FOLD(group_sum, float4, LINE_ADD)
DEFINE_GROUP_FOLD(group_max, float4, LINE_MAX)

// Items: (lines, GROUP).
__kernel LINE_GROUP void softmax_pixels(IN(input), OUT(output), LINE_ARGS) {
  LINE_LOCAL(float4, shared);
  const int line = get_global_id(0);
  const int pixel = min(line, line_count - 1) / input_dims.z;
  const int c = min(line, line_count - 1) - pixel * input_dims.z;
  const int2 start = line_start(line_place(pixel, line_shape), line_shape);
  float4 most = -INFINITY;
  for (int i = LINE_ITEM; i < line_length; i += GROUP) {
    const int2 at = start + i * line_step;
    most = fmax(most, convert_float4(READ(input, at.x, at.y, c)));
  }
  most = group_max(most, shared);
  float4 sum = 0;
  for (int i = LINE_ITEM; i < line_length; i += GROUP) {
    const int2 at = start + i * line_step;
    sum += exp(convert_float4(READ(input, at.x, at.y, c)) - most);
  }
  sum = group_sum(sum, shared);
  if (line >= line_count) return;
#ifdef LOG
  const float4 shift = log(sum);
#else
  const float4 factor = 1.0f / sum;
#endif
  for (int i = LINE_ITEM; i < line_length; i += GROUP) {
    const int2 at = start + i * line_step;
    const float4 v = convert_float4(READ(input, at.x, at.y, c)) - most;
#ifdef LOG
    const float4 result = v - shift;
#else
    const float4 result = exp(v) * factor;
#endif
    WRITE(output, at.x, at.y, c, convert_real4(result));
  }
}
#endif
