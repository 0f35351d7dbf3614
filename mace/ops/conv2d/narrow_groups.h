// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The part of Conv2D that runs groups of few channels. A product would fill
// some lanes of its vectors only; here vectors run over the outputs of all
// groups, as in a depthwise convolution.

#ifndef MACE_OPS_CONV2D_NARROW_GROUPS_H_
#define MACE_OPS_CONV2D_NARROW_GROUPS_H_

#include <cstddef>

#include "mace/core/op.h"
#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/ranges.h"
#include "mace/kernels/cpu/gemm/conv_gemm.h"
#include "mace/ops/epilogue/fused_activation.h"

namespace mace {

class NarrowGroupsConv {
 public:
  // `kernels`: those that read the filter. `half`: activations are fp16.
  void Init(CpuIsa isa, const gemm::Kernels *kernels, bool half);

  // Chooses for this shape; nothing is added to the results. If it is chosen,
  // has the filter laid out anew unless that was done before: OUT_OF_RESOURCES
  // then when there is no memory for it.
  void Reshape(const gemm::ConvShape &shape,
               const Tensor &filter,
               const FusedActivation &activation,
               ReshapeContext *context);
  void Decline() { chosen_ = false; }

  bool chosen() const { return chosen_; }
  size_t ScratchBytes(int threads) const;

  void Run(const gemm::ConvArgs &args,
           const FusedActivation &activation,
           ThreadPool *pool,
           void *scratch) const;

 private:
  MaceStatus LayOut(const Tensor &filter, void *memory);
  size_t FilterBytes() const;

  const dwconv::Kernels *kernels_ = nullptr;
  const gemm::Kernels *gemm_ = nullptr;
  bool half_ = false;
  bool chosen_ = false;
  dwconv::Args args_;  // all but the pointers
  dwconv::Ranges ranges_;
  size_t scratch_bytes_ = 0;      // per thread
  const void *filter_ = nullptr;  // null until needed
};

}  // namespace mace

#endif  // MACE_OPS_CONV2D_NARROW_GROUPS_H_
