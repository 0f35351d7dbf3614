// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What DepthToSpace and SpaceToDepth start from. A deep tensor,
// [N, H, W, block * block * D], has in the channels of one pixel what a wide
// one, [N, H * block, W * block, D], has in a block of pixels.

#ifndef MACE_OPS_PIXEL_BLOCK_PIXEL_BLOCK_OP_H_
#define MACE_OPS_PIXEL_BLOCK_PIXEL_BLOCK_OP_H_

#include <cstdint>

#include "mace/kernels/cpu/transpose/transpose.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/op_enums.h"

namespace mace {

class PixelBlockOp : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const final;

 protected:
  enum class Output { kDeep, kWide };
  explicit PixelBlockOp(Output output) : output_(output) {}

  // For InitOp.
  void SetBlock(int64_t block, PixelBlockOrder order);

 private:
  // The shape of whichever of the two is the deep one.
  const Shape &DeepShape(const Tensor &input, const Tensor &output) const {
    return output_ == Output::kDeep ? output.shape : input.shape;
  }
  // Whether the elements of a row of the block lie side by side in both.
  bool MovesRows() const;
  void MoveRows(ThreadPool *pool, const Tensor &input, Tensor *output) const;
  // Else those of one place in the block do in the wide tensor, and those of
  // one channel in the deep one.
  void Transpose(ThreadPool *pool, const Tensor &input, Tensor *output) const;

  const Output output_;
  int64_t block_ = 1;
  PixelBlockOrder order_ = PixelBlockOrder::DCR;
  const transpose::Kernels *kernels_ = nullptr;
};

}  // namespace mace

#endif  // MACE_OPS_PIXEL_BLOCK_PIXEL_BLOCK_OP_H_
