// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/line.clh"

DEFINE_GROUP_FOLD(group_sum, float, LINE_ADD)

// SUBTRACT_MEAN, HAS_SCALE, HAS_OFFSET. Items: (pixels, GROUP). Elements are
// counted from the first one of their row, because the mean of large numbers
// has no digits left for small deviations.
__kernel LINE_GROUP void layer_norm(IN(input),
#ifdef HAS_SCALE
                                    CONST(scale),
#endif
#ifdef HAS_OFFSET
                                    CONST(offset),
#endif
                                    OUT(output), LINE_ARGS,
                                    const float epsilon) {
  LINE_LOCAL(float, shared);
  const int line = get_global_id(0);
  const int2 place = pixel_place(min(line, line_count - 1), input_dims);
#ifdef SUBTRACT_MEAN
  const float first = convert_float4(READ(input, place.x, place.y, 0)).x;
  float mean = 0;
  for (int c = LINE_ITEM; c < input_dims.z; c += GROUP) {
    const float4 v = convert_float4(READ(input, place.x, place.y, c)) - first;
    mean += sum_of_lanes(mask_lanes(v, input_dims.w, c, 0));
  }
  mean = group_sum(mean, shared) / (float)input_dims.w;
#else
  const float first = 0;
  const float mean = 0;
#endif
  float squares = 0;
  for (int c = LINE_ITEM; c < input_dims.z; c += GROUP) {
    const float4 v =
        convert_float4(READ(input, place.x, place.y, c)) - first - mean;
    squares += sum_of_lanes(mask_lanes(v * v, input_dims.w, c, 0));
  }
  squares = group_sum(squares, shared) / (float)input_dims.w;
  if (line >= line_count) return;
  const float factor = 1.0f / sqrt(squares + epsilon);
  for (int c = LINE_ITEM; c < input_dims.z; c += GROUP) {
    float4 v =
        convert_float4(READ(input, place.x, place.y, c)) - first - mean;
    v *= factor;
#ifdef HAS_SCALE
    v *= convert_float4(LOAD4(scale, c));
#endif
#ifdef HAS_OFFSET
    v += convert_float4(LOAD4(offset, c));
#endif
    WRITE(output, place.x, place.y, c, convert_real4(v));
  }
}
