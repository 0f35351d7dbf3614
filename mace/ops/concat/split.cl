// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/values.clh"

// COUNT outputs, at most 4, each a part of an axis of the input: [outer, axis,
// inner]. A unit is a block where the macro BLOCKS is set; otherwise it is an
// element, `inner` is 1 and the axis is the channels.
//
//   axis     (length of the axis, inner)
//   begins   where each output begins on the axis
//   lengths  of each output on the axis; 0 for none
//   firsts   the first item of each output; its items are its blocks
//
// Items: the blocks of all outputs.

#ifdef KERNEL_split

#define OUTPUTS_1 OUT(out0)
#define OUTPUTS_2 OUTPUTS_1, OUT(out1)
#define OUTPUTS_3 OUTPUTS_2, OUT(out2)
#define OUTPUTS_4 OUTPUTS_3, OUT(out3)

__kernel void split(IN(input), COUNTED(OUTPUTS), const int items,
                    const int2 axis, const int4 begins, const int4 lengths,
                    const int4 firsts) {
  int item = get_global_id(0);
  if (item >= items) return;
  int part = 0;
  int first = firsts.x;
  int begin = begins.x;
  int length = lengths.x;
#define LATER(k, lane)         \
  if (item >= firsts.lane) {   \
    part = k;                  \
    first = firsts.lane;       \
    begin = begins.lane;       \
    length = lengths.lane;     \
  }
#if COUNT > 1
  LATER(1, y)
#endif
#if COUNT > 2
  LATER(2, z)
#endif
#if COUNT > 3
  LATER(3, w)
#endif
  item -= first;
#ifdef BLOCKS
  const int run = length * axis.y;
  const int outer = item / run;
  const int from = (outer * axis.x + begin) * axis.y + item - outer * run;
  const value4 v = READ_VALUE_BLOCK(input, from);
#else
  const int blocks = (length + 3) / 4;
  const int outer = item / blocks;
  const int channel = 4 * (item - outer * blocks);
  int from = outer * axis.x + begin + channel;
  value4 v = (value4)(READ_VALUE(input, from), 0, 0, 0);
  if (channel + 1 < length) {
    ++from;
    v.y = READ_VALUE(input, from);
  }
  if (channel + 2 < length) {
    ++from;
    v.z = READ_VALUE(input, from);
  }
  if (channel + 3 < length) {
    ++from;
    v.w = READ_VALUE(input, from);
  }
#endif
  if (part == 0) WRITE_VALUE_BLOCK(out0, item, v);
#if COUNT > 1
  if (part == 1) WRITE_VALUE_BLOCK(out1, item, v);
#endif
#if COUNT > 2
  if (part == 2) WRITE_VALUE_BLOCK(out2, item, v);
#endif
#if COUNT > 3
  if (part == 3) WRITE_VALUE_BLOCK(out3, item, v);
#endif
}
#endif
