// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How kernels read operands that broadcast: the host's side of
// mace/kernels/opencl/broadcast.clh.

#ifndef MACE_OPS_OPENCL_OP_GPU_BROADCAST_H_
#define MACE_OPS_OPENCL_OP_GPU_BROADCAST_H_

#include <vector>

#include "mace/core/model/tensor.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

class GpuBroadcast {
 public:
  // `output` is the shape that all operands broadcast to. It and the tensors
  // must outlive this.
  GpuBroadcast(const Shape &output,
               const std::vector<const Tensor *> &operands);

  // IN(<name>), BROADCAST(<name>)
  void AddOperand(Launch *launch, const char *name, size_t port) const;
  // OUT(output), BROADCAST_OUTPUT, and the macro BY_ELEMENT.
  void AddOutput(Launch *launch) const;

 private:
  struct Operand {
    int64_t values[8];  // <name>_outer and <name>_inner
  };
  bool FindSteps(const Shape &shape, Operand *operand) const;
  Operand StridesOf(const Shape &shape) const;

  const Shape &output_;
  std::vector<Operand> operands_;  // per input port
  bool by_element_ = false;
};

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_GPU_BROADCAST_H_
