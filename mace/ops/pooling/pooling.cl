// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"

// MAX: the maximum; NaN if there is one. Otherwise the average, summed in float
// and in parts, so that errors do not add up over the whole of a large window.
#ifdef MAX
#define FIRST ((float4)(-INFINITY))
#define JOIN(sum, v) ((v) > (sum) || (v) != (v) ? (v) : (sum))
#else
#define FIRST ((float4)(0))
#define JOIN(sum, v) ((sum) + (v))
#endif

#define PART 64  // taps of one item

// The taps of a window along one axis: those in [.x, .y) are inside the input.
static int2 taps_inside(int start, int kernel_size, int dilation, int size) {
  const int first = start < 0 ? (dilation - 1 - start) / dilation : 0;
  const int end = start < size ? (size - start + dilation - 1) / dilation : 0;
  return (int2)(first, min(kernel_size, end));
}

// LANES > 1: the items of a work group with one place in x share the taps of a
// window.
//
// window     (KH, KW, vertical stride, horizontal stride)
// step       (vertical dilation, horizontal dilation)
// border     padding (top, left, bottom, right)
// count_pad  1: the average counts padding, but not what ceil_mode adds
//
// Items: (blocks of C, W * LANES, rows).
#if LANES > 1
__attribute__((reqd_work_group_size(BLOCKS, LANES, 1)))
#endif
__kernel void pooling(IN(input), OUT(output), const int4 window,
                      const int2 step, const int4 border,
                      const int count_pad) {
  const int c = get_global_id(0);
  const int x = get_global_id(1) / LANES;
  const int y = get_global_id(2);
  const bool inside = c < output_dims.z && x < output_dims.y;
#if LANES == 1
  if (!inside) return;
#endif
  const int n = y / output_dims.x;
  const int y0 = (y - n * output_dims.x) * window.z - border.x;
  const int x0 = x * window.w - border.y;
  const int2 v = taps_inside(y0, window.x, step.x, input_dims.x);
  const int2 h = taps_inside(x0, window.y, step.y, input_dims.y);
  const int row0 = n * input_dims.x + y0;
  float4 sum = FIRST;
#if LANES == 1
  for (int ky = v.x; ky < v.y; ++ky) {
    float4 part = FIRST;
    for (int kx = h.x; kx < h.y; ++kx) {
      const float4 in = convert_float4(
          READ(input, row0 + ky * step.x, x0 + kx * step.y, c));
      part = JOIN(part, in);
    }
    sum = JOIN(sum, part);
  }
#else
  const int block = get_local_id(0);
  const int lane = get_local_id(1);
  const int columns = max(h.y - h.x, 0);
  const int taps = inside ? max(v.y - v.x, 0) * columns : 0;
  for (int begin = lane; begin < taps; begin += PART * LANES) {
    const int end = min(begin + PART * LANES, taps);
    float4 part = FIRST;
    for (int tap = begin; tap < end; tap += LANES) {
      const int ky = v.x + tap / columns;
      const int kx = h.x + tap % columns;
      const float4 in = convert_float4(
          READ(input, row0 + ky * step.x, x0 + kx * step.y, c));
      part = JOIN(part, in);
    }
    sum = JOIN(sum, part);
  }
  __local float4 sums[LANES][BLOCKS];
  sums[lane][block] = sum;
  for (int half_lanes = LANES / 2; half_lanes > 0; half_lanes /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_lanes) {
      const float4 other = sums[lane + half_lanes][block];
      sum = JOIN(sum, other);
      sums[lane][block] = sum;
    }
  }
  if (!inside || lane > 0) return;
#endif
  int count = max(v.y - v.x, 0) * max(h.y - h.x, 0);
  if (count == 0) {
    sum = (float4)(0);  // nothing but padding
    count = 1;
  }
#ifndef MAX
  if (count_pad) {
    count = taps_inside(y0, window.x, step.x, input_dims.x + border.z).y *
            taps_inside(x0, window.y, step.y, input_dims.y + border.w).y;
  }
  sum /= (float)count;
#endif
  WRITE(output, y, x, c, convert_real4(sum));
}
