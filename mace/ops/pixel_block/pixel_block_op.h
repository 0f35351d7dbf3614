// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The base class of DepthToSpace and SpaceToDepth. The channels of one pixel of
// a deep tensor, [N, H, W, block * block * D], are a block of pixels in a wide
// tensor, [N, H * block, W * block, D].

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

  // To be called by InitOp.
  void SetBlock(int64_t block, PixelBlockOrder order);

 private:
  // The shape of the deep tensor.
  const Shape &DeepShape(const Tensor &input, const Tensor &output) const {
    return output_ == Output::kDeep ? output.shape : input.shape;
  }
  // Whether the elements of a row of the block are adjacent in both tensors.
  bool MovesRows() const;
  void MoveRows(ThreadPool *pool, const Tensor &input, Tensor *output) const;
  // Otherwise: in the wide tensor, elements at the same position in the block
  // are adjacent; in the deep tensor, elements of the same channel.
  void Transpose(ThreadPool *pool, const Tensor &input, Tensor *output) const;

  const Output output_;
  int64_t block_ = 1;
  PixelBlockOrder order_ = PixelBlockOrder::DCR;
  const transpose::Kernels *kernels_ = nullptr;
};

}  // namespace mace

#endif  // MACE_OPS_PIXEL_BLOCK_PIXEL_BLOCK_OP_H_
