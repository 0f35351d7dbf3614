// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/line.clh"

// FOLD takes floats and vectors of them; START does not change the result.
// SQUARES: squares are folded.
#if defined(FOLD_MAX)
#define START -INFINITY
#define FOLD(p, q) select(q, p, (p) > (q) || isnan(p))
#elif defined(FOLD_MIN)
#define START INFINITY
#define FOLD(p, q) select(q, p, (p) < (q) || isnan(p))
#elif defined(FOLD_PROD)
#define START 1.0f
#define FOLD(p, q) ((p) * (q))
#else
#define START 0.0f
#define FOLD(p, q) ((p) + (q))
#endif

DEFINE_GROUP_FOLD(group_fold, float4, FOLD)

static float4 value_of(float4 v) {
#ifdef SQUARES
  return v * v;
#else
  return v;
#endif
}

static float4 finish(float4 v, float divisor, int root) {
  return root ? sqrt(v) : v / divisor;
}

// The pixel of an index of several axes, by their lengths and strides.
static int pixel_at(int index, int4 dims, int4 strides) {
  int next = index / dims.w;
  int at = (index - next * dims.w) * strides.w;
  if (next == 0) return at;
  index = next;
  next = index / dims.z;
  at += (index - next * dims.z) * strides.z;
  if (next == 0) return at;
  index = next;
  next = index / dims.y;
  return at + (index - next * dims.y) * strides.y + next * strides.x;
}

#ifdef KERNEL_reduce_pixels
// Channels are kept. Items: (pixels of the output * blocks, GROUP). `length`
// pixels are folded into one.
__kernel LINE_GROUP void reduce_pixels(IN(input), OUT(output),
                                       const int4 kept_dims,
                                       const int4 kept_strides,
                                       const int4 folded_dims,
                                       const int4 folded_strides,
                                       const int lines, const int length,
                                       const float divisor, const int root) {
  LINE_LOCAL(float4, shared);
  const int line = get_global_id(0);
  const int pixel = min(line, lines - 1) / input_dims.z;
  const int c = min(line, lines - 1) - pixel * input_dims.z;
  const int begin = pixel_at(pixel, kept_dims, kept_strides);
  float4 folded = START;
  for (int i = LINE_ITEM; i < length; i += GROUP) {
    const int2 at = pixel_place(
        begin + pixel_at(i, folded_dims, folded_strides), input_dims);
    const float4 v = value_of(convert_float4(READ(input, at.x, at.y, c)));
    folded = FOLD(folded, v);
  }
  folded = group_fold(folded, shared);
  if (line >= lines || LINE_ITEM > 0) return;
  const int2 place = pixel_place(pixel, output_dims);
  WRITE(output, place.x, place.y, c,
        convert_real4(finish(folded, divisor, root)));
}
#endif

#ifdef KERNEL_reduce_channels
// Channels are folded, too. Items: (blocks of the output, GROUP). `length`
// blocks are folded into one element.
__kernel LINE_GROUP void reduce_channels(IN(input), OUT(output),
                                         const int4 kept_dims,
                                         const int4 kept_strides,
                                         const int4 folded_dims,
                                         const int4 folded_strides,
                                         const int lines, const int length,
                                         const float divisor, const int root) {
  LINE_LOCAL(float4, shared);
  const int line = get_global_id(0);
  const int pixel = min(line, lines - 1) / output_dims.z;
  const int block = min(line, lines - 1) - pixel * output_dims.z;
  float4 folded = START;
  const int lanes = min(4, output_dims.w - 4 * block);
  for (int lane = 0; lane < lanes; ++lane) {
    const int begin = pixel_at(pixel * output_dims.w + 4 * block + lane,
                               kept_dims, kept_strides);
    float4 blocks = START;
    for (int i = LINE_ITEM; i < length; i += GROUP) {
      const int index = i / input_dims.z;
      const int c = i - index * input_dims.z;
      const int2 at = pixel_place(
          begin + pixel_at(index, folded_dims, folded_strides), input_dims);
      const float4 v = value_of(convert_float4(READ(input, at.x, at.y, c)));
      const float4 inside = mask_lanes(v, input_dims.w, c, START);
      blocks = FOLD(blocks, inside);
    }
    const float2 halves = FOLD(blocks.xy, blocks.zw);
    const float one = FOLD(halves.x, halves.y);
    if (lane == 0) folded.x = one;
    if (lane == 1) folded.y = one;
    if (lane == 2) folded.z = one;
    if (lane == 3) folded.w = one;
  }
  folded = group_fold(folded, shared);
  if (line >= lines || LINE_ITEM > 0) return;
  const int2 place = pixel_place(pixel, output_dims);
  WRITE(output, place.x, place.y, block,
        convert_real4(finish(folded, divisor, root)));
}
#endif
