// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/values.clh"

// Joins COUNT inputs, at most 8, along an axis of the output: [outer, axis,
// inner]. A unit is a block where the macro BLOCKS is set; otherwise it is an
// element, `inner` is 1 and the axis is the output's channels.
//
//   axis    (length of the axis, inner, the part of the axis that is written:
//           its first unit and its length; without BLOCKS, the latter two count
//           blocks of channels)
//   begins  where the inputs begin on the axis, and in the end where the last
//           one of fewer than eight ends
//   end     where the last input ends
//
// Items: outer * part * inner.

#ifdef KERNEL_join

#define INPUTS_1 IN(in0)
#define INPUTS_2 INPUTS_1, IN(in1)
#define INPUTS_3 INPUTS_2, IN(in2)
#define INPUTS_4 INPUTS_3, IN(in3)
#define INPUTS_5 INPUTS_4, IN(in4)
#define INPUTS_6 INPUTS_5, IN(in5)
#define INPUTS_7 INPUTS_6, IN(in6)
#define INPUTS_8 INPUTS_7, IN(in7)

// TAKE(input, begin, end) of the input that has position `at` of the axis.
#define FIND_1(at) TAKE(at, in0, begins.x, begins.y)
#define FIND_2(at) \
  if (at >= begins.y) TAKE(at, in1, begins.y, begins.z) else FIND_1(at)
#define FIND_3(at) \
  if (at >= begins.z) TAKE(at, in2, begins.z, begins.w) else FIND_2(at)
#define FIND_4(at) \
  if (at >= begins.w) TAKE(at, in3, begins.w, begins2.x) else FIND_3(at)
#define FIND_5(at) \
  if (at >= begins2.x) TAKE(at, in4, begins2.x, begins2.y) else FIND_4(at)
#define FIND_6(at) \
  if (at >= begins2.y) TAKE(at, in5, begins2.y, begins2.z) else FIND_5(at)
#define FIND_7(at) \
  if (at >= begins2.z) TAKE(at, in6, begins2.z, begins2.w) else FIND_6(at)
#define FIND_8(at) \
  if (at >= begins2.w) TAKE(at, in7, begins2.w, end) else FIND_7(at)
#define FIND(at) COUNTED(FIND)(at)

__kernel void join(COUNTED(INPUTS), OUT(output), const int items,
                   const int4 axis, const int4 begins, const int4 begins2,
                   const int end) {
  const int item = get_global_id(0);
  if (item >= items) return;
#ifdef BLOCKS
  const int run = axis.w * axis.y;
  const int outer = item / run;
  const int in_run = item - outer * run;
  const int in_part = in_run / axis.y;
  const int at = axis.z + in_part;
  const int inner = in_run - in_part * axis.y;
  const int to = (outer * axis.x + at) * axis.y + inner;
  value4 v;
#define TAKE(at, in, begin, end)                                        \
  {                                                                     \
    const int i = (outer * ((end) - (begin)) + at - (begin)) * axis.y + \
                  inner;                                                \
    v = READ_VALUE_BLOCK(in, i);                                        \
  }
  FIND(at)
#else
  const int outer = item / axis.w;
  const int block = axis.z + item - outer * axis.w;
  const int to = outer * ((axis.x + 3) / 4) + block;
  value4 v = (value4)(0);
  value one;
#define TAKE(at, in, begin, end)                                   \
  {                                                                \
    const int i = outer * ((end) - (begin)) + at - (begin); \
    one = READ_VALUE(in, i);                                       \
  }
#define LANE(k, lane)            \
  if (4 * block + k < axis.x) {  \
    const int at = 4 * block + k; \
    FIND(at)                     \
    v.lane = one;                \
  }
  LANE(0, x)
  LANE(1, y)
  LANE(2, z)
  LANE(3, w)
#endif
  WRITE_VALUE_BLOCK(output, to, v);
}
#endif
