// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/line.clh"

DEFINE_GROUP_FOLD(group_sum, float4, LINE_ADD)

// `pixels` of an image. Items: (images * blocks, GROUP). Elements are counted
// from the first one of their channel, because the mean of large numbers has no
// digits left for small deviations.
__kernel LINE_GROUP void instance_norm(IN(input), IN(scale), IN(offset),
                                       OUT(output), ACT_ARG, const int lines,
                                       const int pixels, const float epsilon) {
  LINE_LOCAL(float4, shared);
  const int line = get_global_id(0);
  const int image = min(line, lines - 1) / input_dims.z;
  const int c = min(line, lines - 1) - image * input_dims.z;
  const int begin = image * pixels;
  const int2 start = pixel_place(begin, input_dims);
  const float4 first = convert_float4(READ(input, start.x, start.y, c));
  float4 mean = 0;
  for (int i = LINE_ITEM; i < pixels; i += GROUP) {
    const int2 at = pixel_place(begin + i, input_dims);
    mean += convert_float4(READ(input, at.x, at.y, c)) - first;
  }
  mean = group_sum(mean, shared) / (float)pixels;
  float4 squares = 0;
  for (int i = LINE_ITEM; i < pixels; i += GROUP) {
    const int2 at = pixel_place(begin + i, input_dims);
    const float4 v =
        convert_float4(READ(input, at.x, at.y, c)) - first - mean;
    squares += v * v;
  }
  squares = group_sum(squares, shared) / (float)pixels;
  if (line >= lines) return;
  const float4 factor =
      convert_float4(READ(scale, 0, 0, c)) / sqrt(squares + epsilon);
  const float4 shift = convert_float4(READ(offset, 0, 0, c));
  for (int i = LINE_ITEM; i < pixels; i += GROUP) {
    const int2 at = pixel_place(begin + i, input_dims);
    const float4 v =
        convert_float4(READ(input, at.x, at.y, c)) - first - mean;
    WRITE(output, at.x, at.y, c,
          convert_real4(ACTIVATE_FLOAT(v * factor + shift)));
  }
}
