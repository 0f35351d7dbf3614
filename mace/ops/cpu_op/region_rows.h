// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_CPU_OP_REGION_ROWS_H_
#define MACE_OPS_CPU_OP_REGION_ROWS_H_

#include <cstdint>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

// Of an operator with the inputs images [N, H, W, C], regions [..., 4] and
// optionally the index of the image of each region: sets the output [regions,
// height, width, channels] to 0, and calls `row(image, region, y, thread, out)`
// for each row of it, with the four numbers of the region. Not for regions of
// images that do not exist.
template <typename Row>
void ForEachRegionRow(RunContext *context, const Row &row) {
  const Shape &input = context->input(0)->shape;
  const auto *regions = context->input(1)->As<float>();
  const Tensor *given = context->input(2);
  const auto *images = given == nullptr ? nullptr : given->As<int32_t>();
  Tensor *output = context->output(0);
  const int64_t height = output->shape[1];
  const int64_t row_elements = output->shape[2] * output->shape[3];
  context->thread_pool()->ParallelFor(
      output->shape[0] * height, RowGrain(row_elements * 16),
      [&](int64_t begin, int64_t end, int thread) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t region = i / height;
          float *out = output->MutableAs<float>() + i * row_elements;
          std::memset(out, 0,
                      static_cast<size_t>(row_elements) * sizeof(float));
          const int64_t image = images == nullptr ? 0 : images[region];
          if (image < 0 || image >= input[0]) continue;
          row(image, regions + region * 4, i % height, thread, out);
        }
      });
}

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_REGION_ROWS_H_
