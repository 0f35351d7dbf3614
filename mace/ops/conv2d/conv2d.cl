// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/epilogue.clh"

// Shapes and windows of a convolution. Filters are CL_PACKED_O16:
// [groups][ceil(O / groups / 16)][KH * KW * I][16], I = C / groups.
//
// window  (KH, KW, I, O / groups)
// step    (vertical stride, horizontal stride, vertical dilation, horizontal)
// border  (top, left: rows and columns of padding)

#ifdef KERNEL_conv2d
// Every item computes a tile: PIXELS pixels in the order of [H, W] for BLOCKS
// blocks of channels. Groups have whole blocks of input and output channels,
// except where there is one group; TAIL is the number of channels in the input's
// last block if it is incomplete.
//
// POINTWISE: the window is 1x1 without padding.
// PRODUCT: the matrix products of Winograd's method. Image n of the input is
// multiplied by filter n, and what follows the sums is left to another kernel.
// SPLIT: work groups of LANES x SPLIT items. The former are `lanes` tiles of
// channels by LANES / lanes tiles of pixels, and each of SPLIT sums a part of the
// products.
//
// Items without SPLIT: (tiles of pixels, tiles of O, N); with it:
// (LANES * groups, SPLIT * groups, N).
#ifdef PRODUCT
#define AFTER_SUMS_ARGS
#define AFTER_SUMS_PARAMS
#define AFTER_SUM(v, block) convert_real4(v)
#define FINISH(v, row, col, block) AFTER_SUM(v, block)
#else
#define AFTER_SUMS_ARGS BIAS_ARG RESIDUAL_ARG
#define AFTER_SUMS_PARAMS ACT_ARG, const int4 step, const int2 border,
#define WITH_BIAS(v, block) convert_real4((v) + convert_float4(BIAS(block)))
#define AFTER_SUM(v, block) ACTIVATE(WITH_BIAS(v, block))
#define FINISH(v, row, col, block) \
  ACTIVATE(ADD_RESIDUAL(WITH_BIAS(v, block), row, col, block))
#endif

#ifdef SPLIT
#define SPLIT_PARAMS , const int lanes
#define TILE __attribute__((reqd_work_group_size(LANES, SPLIT, 1)))
#if SPLIT > 1
#define SHARED_PARAM , __local float4 *shared
#else
#define SHARED_PARAM
#endif
#else
#define SPLIT_PARAMS
#define SHARED_PARAM
#define TILE
#endif

// Sums are of float. In half, at most PART_BLOCKS blocks of products are summed
// before they are added to them: with independent errors, a sum of 4608 in half
// is off by about 3 %, one of 64 by 0.4 %, which the next sums even out.
#ifdef REAL_HALF
#define PART_BLOCKS 16
#define BEGIN_PART            \
  real4 part[PIXELS][BLOCKS]; \
  EACH(p, PIXELS) EACH(b, BLOCKS) part[p][b] = (real4)(0);
#define END_PART \
  EACH(p, PIXELS) EACH(b, BLOCKS) sum[p][b] += convert_float4(part[p][b]);
#else
#define part sum
#define BEGIN_PART
#define END_PART
#endif
#define EACH(i, count) _Pragma("unroll") for (int i = 0; i < count; ++i)

#define MULTIPLY(lane, k)                                             \
  EACH(b, BLOCKS) {                                                   \
    const real4 weights = LOAD4_PART(filter, weight + 4 * (k), b);    \
    EACH(p, PIXELS) {                                                 \
      part[p][b] = mad((real4)(in[p].lane), weights, part[p][b]);     \
    }                                                                 \
  }
#ifdef POINTWISE
#define READ_INSIDE(p, block) READ_PIXEL(input, at[p], block)
#else
#define READ_INSIDE(p, block) READ_OR_ZERO(input, at[p], block)
#endif
#define READ_INPUTS(block) \
  real4 in[PIXELS];        \
  EACH(p, PIXELS) in[p] = READ_INSIDE(p, block);

TILE __kernel void conv2d(IN(input), CONST(filter), AFTER_SUMS_ARGS OUT(output),
                          AFTER_SUMS_PARAMS const int4 window
                          SPLIT_PARAMS SHARED_PARAM) {
  const int n = get_global_id(2);
  const int pixels = output_dims.x * output_dims.y;
  const int group_blocks = (window.w + 3) / 4;
  const int group_tiles = (group_blocks + BLOCKS - 1) / BLOCKS;
  const int tiles = output_dims.z / group_blocks * group_tiles;
#ifdef SPLIT
  const int item = get_local_id(0);
  // Items beyond the last tile compute it again, and write nothing.
  const int own_tile = GROUP_INDEX(1, SPLIT) * lanes + item % lanes;
  const int tile = min(own_tile, tiles - 1);
  const int first =
      (GROUP_INDEX(0, LANES) * (LANES / lanes) + item / lanes) * PIXELS;
#else
  const int first = get_global_id(0) * PIXELS;
  const int tile = get_global_id(1);
  if (first >= pixels || tile >= tiles) return;
#endif
  const int group = tile / group_tiles;
  const int in_group = (tile - group * group_tiles) * BLOCKS;
  const int first_in = group * (window.z / 4);
  const int full = window.z / 4;
  const int blocks = (window.z + 3) / 4;
  const int k_count = window.x * window.y * window.z;
#ifdef PRODUCT
  const int filter_block = n * ((window.w + 15) / 16) + in_group / 4;
#else
  const int filter_block = group * ((window.w + 15) / 16) + in_group / 4;
#endif
  PACKED_PARTS(filter, start, filter_block, in_group % 4, k_count, BLOCKS);

  PIXEL_TYPE(input) at[PIXELS];
#ifndef POINTWISE
  int2 origin[PIXELS];  // row and column
#endif
  EACH(p, PIXELS) {
    const int pixel = min(first + p, pixels - 1);
    const int y = pixel / output_dims.y;
    const int x = pixel - y * output_dims.y;
#ifdef PRODUCT
    at[p] = FIND_PIXEL(input, n * input_dims.x + y, x);
#elif defined(POINTWISE)
    at[p] = FIND_PIXEL(input, n * input_dims.x + y * step.x, x * step.y);
#else
    origin[p] = (int2)(y, x) * step.xy - border;
#endif
  }

  float4 sum[PIXELS][BLOCKS];
  EACH(p, PIXELS) EACH(b, BLOCKS) sum[p][b] = (float4)(0);
  const int steps = window.x * window.y * blocks;
#if defined(SPLIT) && SPLIT > 1
  const int share = (steps + SPLIT - 1) / SPLIT;
  const int begin = get_local_id(1) * share;
  const int end = min(steps, begin + share);
#else
  const int begin = 0;
  const int end = steps;
#endif
  int tap = begin / blocks;
  int i = begin - tap * blocks;
  int k = begin;
#pragma unroll 1
  while (k < end) {
#ifndef POINTWISE
    const int ky = tap / window.y;
    const int2 offset = (int2)(ky, tap - ky * window.y) * step.zw;
    EACH(p, PIXELS) {
      const int2 place = origin[p] + offset;
      const bool inside = place.x >= 0 && place.x < input_dims.x &&
                          place.y >= 0 && place.y < input_dims.y;
      at[p] = inside ? FIND_PIXEL(input, n * input_dims.x + place.x, place.y)
                     : OUTSIDE(input);
    }
#endif
    const int stop = min(blocks, i + end - k);
    int weight = start + (tap * window.z + 4 * i) * 4;
    k += stop - i;
#pragma unroll 1
    while (i < min(stop, full)) {
#ifdef REAL_HALF
      const int pause = min(min(stop, full), i + PART_BLOCKS);
#else
      const int pause = min(stop, full);
#endif
      BEGIN_PART
#pragma unroll 1
      for (; i < pause; ++i) {
        READ_INPUTS(first_in + i)
        MULTIPLY(x, 0)
        MULTIPLY(y, 1)
        MULTIPLY(z, 2)
        MULTIPLY(w, 3)
        weight += 16;
      }
      END_PART
    }
#if TAIL > 0
    if (stop > full) {
      BEGIN_PART
      READ_INPUTS(first_in + full)
      MULTIPLY(x, 0)
#if TAIL > 1
      MULTIPLY(y, 1)
#endif
#if TAIL > 2
      MULTIPLY(z, 2)
#endif
      END_PART
    }
#endif
    i = 0;
    ++tap;
  }

  const int c = group * group_blocks + in_group;
#if defined(SPLIT) && SPLIT > 1
  EACH(p, PIXELS) EACH(b, BLOCKS) {
    shared[(get_local_id(1) * PIXELS * BLOCKS + p * BLOCKS + b) * LANES + item] =
        sum[p][b];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (own_tile >= tiles) return;
#pragma unroll 1
  for (int e = get_local_id(1); e < PIXELS * BLOCKS; e += SPLIT) {
    const int pixel = first + e / BLOCKS;
    const int b = e % BLOCKS;
    if (pixel >= pixels || in_group + b >= group_blocks) continue;
    float4 v = shared[e * LANES + item];
    for (int other = 1; other < SPLIT; ++other) {
      v += shared[(other * PIXELS * BLOCKS + e) * LANES + item];
    }
    const int y = pixel / output_dims.y;
    const int x = pixel - y * output_dims.y;
    const int row = n * output_dims.x + y;
    WRITE(output, row, x, c + b, FINISH(v, row, x, c + b));
  }
#else
#ifdef SPLIT
  if (own_tile >= tiles) return;
#endif
#define IS_OUTPUT(p, b) (first + (p) < pixels && in_group + (b) < group_blocks)
  int2 place[PIXELS];  // row and column
  EACH(p, PIXELS) {
    const int y = (first + p) / output_dims.y;
    place[p] = (int2)(n * output_dims.x + y, first + p - y * output_dims.y);
  }
#ifndef PRODUCT
  if (has_residual) {
    EACH(p, PIXELS) EACH(b, BLOCKS) {
      if (IS_OUTPUT(p, b)) {
        sum[p][b] += convert_float4(RESIDUAL(place[p].x, place[p].y, c + b));
      }
    }
  }
#endif
  EACH(p, PIXELS) EACH(b, BLOCKS) {
    if (IS_OUTPUT(p, b)) {
      WRITE(output, place[p].x, place[p].y, c + b, AFTER_SUM(sum[p][b], c + b));
    }
  }
#endif
}
#endif

#ifdef KERNEL_conv2d_groups
// Groups whose channels are not whole blocks: an item computes four channels of
// one pixel, each of which may be of another group.
//
// Items: (blocks of O, W, rows).
__kernel void conv2d_groups(IN(input), CONST(filter),
                            BIAS_ARG RESIDUAL_ARG OUT(output), ACT_ARG,
                            const int4 step, const int2 border,
                            const int4 window) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  const int n = y / output_dims.x;
  const int group_blocks = (window.w + 15) / 16;
  const int k_count = window.x * window.y * window.z;
  const int in_y0 = (y - n * output_dims.x) * step.x - border.x;
  const int in_x0 = x * step.y - border.y;
  real sums[4];
  const real4 bias4 = BIAS(c);
  sums[0] = bias4.x;
  sums[1] = bias4.y;
  sums[2] = bias4.z;
  sums[3] = bias4.w;
  for (int lane = 0; lane < 4 && 4 * c + lane < output_dims.w; ++lane) {
    const int group = (4 * c + lane) / window.w;
    const int in_group = 4 * c + lane - group * window.w;
    PACKED(filter, start, group * group_blocks + in_group / 16,
           in_group % 16 / 4, k_count);
    int weight = start;
    for (int ky = 0; ky < window.x; ++ky) {
      const int in_y = in_y0 + ky * step.z;
      for (int kx = 0; kx < window.y; ++kx) {
        const int in_x = in_x0 + kx * step.w;
        const bool inside = in_y >= 0 && in_y < input_dims.x && in_x >= 0 &&
                            in_x < input_dims.y;
        for (int i = 0; inside && i < window.z; ++i) {
          const int channel = group * window.z + i;
          const real4 v = READ(input, n * input_dims.x + in_y, in_x,
                               channel / 4);
          const real4 w = LOAD4(filter, weight + i * 4);
          sums[lane] += lane_of_real4(v, channel % 4) *
                        lane_of_real4(w, in_group % 4);
        }
        weight += window.z * 4;
      }
    }
  }
  const real4 sum = (real4)(sums[0], sums[1], sums[2], sums[3]);
  WRITE(output, y, x, c, ACTIVATE(ADD_RESIDUAL(sum, y, x, c)));
}
#endif
