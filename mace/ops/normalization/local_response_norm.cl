// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"

// Of the squares of block `block`, those of channels at most `before` below and
// `after` above `channel`.
static float window_sum(float4 squares, int block, int channel, int2 window) {
  const int4 away = 4 * block + (int4)(0, 1, 2, 3) - channel;
  return dot(away >= -window.x && away <= window.y ? squares : (float4)(0),
             (float4)(1));
}

// window  (neighbours below, above the channel)
// terms   (alpha, beta, bias, 0)
//
// Items: (blocks of C, W, rows).
__kernel void local_response_norm(IN(input), OUT(output), const int2 window,
                                  const float4 terms) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  float4 sum = (float4)(0);
  const int last = min((4 * c + 3 + window.y) / 4, input_dims.z - 1);
  for (int block = max(4 * c - window.x, 0) / 4; block <= last; ++block) {
    const float4 v = convert_float4(READ(input, y, x, block));
    const int4 channels = 4 * block + (int4)(0, 1, 2, 3);
    const float4 squares = channels < input_dims.w ? v * v : (float4)(0);
    sum += (float4)(window_sum(squares, block, 4 * c, window),
                    window_sum(squares, block, 4 * c + 1, window),
                    window_sum(squares, block, 4 * c + 2, window),
                    window_sum(squares, block, 4 * c + 3, window));
  }
  const float4 v = convert_float4(READ(input, y, x, c));
  WRITE(output, y, x, c,
        convert_real4(v * pow(terms.z + terms.x * sum, (float4)(-terms.y))));
}
