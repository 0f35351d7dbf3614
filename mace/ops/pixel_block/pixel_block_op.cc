// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/pixel_block/pixel_block_op.h"

#include "mace/ops/cpu_op/copy.h"

namespace mace {

void PixelBlockOp::SetBlock(int64_t block, PixelBlockOrder order) {
  block_ = block;
  order_ = order;
  kernels_ = transpose::KernelsFor(isa());
}

bool PixelBlockOp::MovesRows() const {
  return order_ == PixelBlockOrder::DCR || block_ == 1;
}

MaceStatus PixelBlockOp::Run(RunContext *context) const {
  const Tensor *input = context->input(0);
  Tensor *output = context->output(0);
  if (input->elements() == 0) return MaceStatus();
  if (MovesRows()) {
    MoveRows(context->thread_pool(), *input, output);
  } else {
    Transpose(context->thread_pool(), *input, output);
  }
  return MaceStatus();
}

void PixelBlockOp::MoveRows(ThreadPool *pool,
                            const Tensor &input,
                            Tensor *output) const {
  const Shape &shape = DeepShape(input, *output);
  const auto size = static_cast<int64_t>(DataTypeSize(input.data_type));
  const int64_t row = shape[3] / block_ * size;  // of one block
  const int64_t width = shape[2];
  // The input in the order of the output: pixels and rows of a block are
  // exchanged.
  StridedView view;
  view.rank = 3;
  view.block = row;
  view.dims[0] = shape.Elements(0, 2);
  view.strides[0] = width * block_ * row;
  if (output_ == Output::kDeep) {
    view.dims[1] = width;
    view.strides[1] = row;
    view.dims[2] = block_;
    view.strides[2] = width * row;
  } else {
    view.dims[1] = block_;
    view.strides[1] = row;
    view.dims[2] = width;
    view.strides[2] = block_ * row;
  }
  CopyStrided(pool, view, input.As<uint8_t>(), output->MutableAs<uint8_t>());
}

void PixelBlockOp::Transpose(ThreadPool *pool,
                             const Tensor &input,
                             Tensor *output) const {
  const uint8_t *x = input.As<uint8_t>();
  auto *y = output->MutableAs<uint8_t>();
  const auto size = static_cast<int64_t>(DataTypeSize(input.data_type));
  const bool to_deep = output_ == Output::kDeep;
  const Shape &shape = DeepShape(input, *output);
  const int64_t channels = shape[3];
  const int64_t width = shape[2];
  const int64_t block = block_;
  const int64_t run = channels / block;  // of a row of the block
  const auto side = static_cast<size_t>(block);
  const size_t area = side * side;
  const auto depth = static_cast<size_t>(run / block);
  const transpose::Matrix matrix = transpose::MatrixOf(*kernels_, size);
  pool->ParallelFor(
      shape.Elements(0, 2) * block, RowGrain(width * run),
      [=](int64_t begin, int64_t end, int /*thread*/) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t deep =
              row / block * width * channels + row % block * block;
          const int64_t wide = row * width * run;
          for (int64_t w = 0; w < width; ++w) {
            const int64_t deep_at = (deep + w * channels) * size;
            const int64_t wide_at = (wide + w * run) * size;
            if (to_deep) {
              matrix(x + wide_at, depth, y + deep_at, area, side, depth);
            } else {
              matrix(x + deep_at, area, y + wide_at, depth, depth, side);
            }
          }
        }
      });
}

}  // namespace mace
