// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/line.clh"

// An image is divided into parts, so that a large one with few channels has work
// for the whole GPU. A line is a block of channels in a part of an image. If
// there is one part, one kernel does it all; otherwise one finds the moments of
// the parts, and another merges and applies them.
//
// Elements are counted from the first one of their channel in the image, because
// the mean of large numbers has no digits left for small deviations.

DEFINE_GROUP_FOLD(group_sum, float4, LINE_ADD)

#define VALUE_AT(i, c)                                      \
  (convert_float4(READ(input, pixel_place(i, input_dims).x, \
                       pixel_place(i, input_dims).y, c)) -  \
   first)

// `shape` is (lines, pixels of an image, parts of an image, pixels of a part).
// Declares the line's part of all images, its block c, and pixels [begin, end).
#define FIND_LINE                                                    \
  const int line = get_global_id(0);                                 \
  const int part = min(line, shape.x - 1) / input_dims.z;            \
  const int c = min(line, shape.x - 1) - part * input_dims.z;        \
  const int image = part / shape.z;                                  \
  const int begin =                                                  \
      image * shape.y + (part - image * shape.z) * shape.w;          \
  const int end = min(begin + shape.w, (image + 1) * shape.y);       \
  const int2 start = pixel_place(image * shape.y, input_dims);       \
  const float4 first = convert_float4(READ(input, start.x, start.y, c));

// Declares the mean and the variance of the line's pixels.
#define FIND_MOMENTS                                         \
  float4 mean = 0;                                           \
  for (int i = begin + LINE_ITEM; i < end; i += GROUP) {     \
    mean += VALUE_AT(i, c);                                  \
  }                                                          \
  mean = group_sum(mean, shared) / (float)(end - begin);     \
  float4 variance = 0;                                       \
  for (int i = begin + LINE_ITEM; i < end; i += GROUP) {     \
    const float4 v = VALUE_AT(i, c) - mean;                  \
    variance += v * v;                                       \
  }                                                          \
  variance = group_sum(variance, shared) / (float)(end - begin);

#define APPLY                                                                  \
  const float4 factor =                                                        \
      convert_float4(READ(scale, 0, 0, c)) / sqrt(variance + epsilon);         \
  const float4 shift = convert_float4(READ(offset, 0, 0, c));                  \
  for (int i = begin + LINE_ITEM; i < end; i += GROUP) {                       \
    const int2 at = pixel_place(i, input_dims);                                \
    const float4 v = (VALUE_AT(i, c) - mean) * factor + shift;                 \
    WRITE(output, at.x, at.y, c, convert_real4(ACTIVATE_FLOAT(v))); \
  }

#ifdef KERNEL_instance_norm
// Items: (lines, GROUP).
__kernel LINE_GROUP void instance_norm(IN(input), IN(scale), IN(offset),
                                       OUT(output), ACT_ARG, const int4 shape,
                                       const float epsilon) {
  LINE_LOCAL(float4, shared);
  FIND_LINE
  FIND_MOMENTS
  if (line >= shape.x) return;
  APPLY
}
#endif

#ifdef KERNEL_instance_moments
// Row i of `moments` has the mean and the variance of part i of all images.
__kernel LINE_GROUP void instance_moments(IN(input), OUT(moments),
                                          const int4 shape) {
  LINE_LOCAL(float4, shared);
  FIND_LINE
  FIND_MOMENTS
  if (line >= shape.x || LINE_ITEM > 0) return;
  WRITE(moments, part, 0, c, convert_real4(mean));
  WRITE(moments, part, 1, c, convert_real4(variance));
}
#endif

#ifdef KERNEL_instance_apply
__kernel LINE_GROUP void instance_apply(IN(input), IN(moments), IN(scale),
                                        IN(offset), OUT(output), ACT_ARG,
                                        const int4 shape,
                                        const float epsilon) {
  LINE_LOCAL(float4, shared);
  FIND_LINE
  const int row = image * shape.z;
  float4 mean = 0;
  for (int i = LINE_ITEM; i < shape.z; i += GROUP) {
    const float pixels = min(shape.w, shape.y - i * shape.w);
    mean += pixels * convert_float4(READ(moments, row + i, 0, c));
  }
  mean = group_sum(mean, shared) / (float)shape.y;
  float4 variance = 0;
  for (int i = LINE_ITEM; i < shape.z; i += GROUP) {
    const float pixels = min(shape.w, shape.y - i * shape.w);
    const float4 v = convert_float4(READ(moments, row + i, 0, c)) - mean;
    const float4 inside = convert_float4(READ(moments, row + i, 1, c));
    variance += pixels * (inside + v * v);
  }
  variance = group_sum(variance, shared) / (float)shape.y;
  if (line >= shape.x) return;
  APPLY
}
#endif
