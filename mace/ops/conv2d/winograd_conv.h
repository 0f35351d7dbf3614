// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The part of Conv2D that runs by Winograd's method.

#ifndef MACE_OPS_CONV2D_WINOGRAD_CONV_H_
#define MACE_OPS_CONV2D_WINOGRAD_CONV_H_

#include <cstddef>

#include "mace/core/op.h"
#include "mace/kernels/cpu/winograd/conv_winograd.h"
#include "mace/ops/epilogue/fused_activation.h"

namespace mace {

class WinogradConv {
 public:
  // `max_tile` is the deployment's hint. `half`: activations are fp16.
  void Init(CpuIsa isa, int max_tile, bool half);

  // Chooses for this shape. If a tile beats the direct product, plans for it,
  // and asks for memory for the transformed filter unless each run transforms
  // it, or there is some for this tile: OUT_OF_RESOURCES if there is none.
  void Reshape(const gemm::ConvShape &shape,
               const Tensor &filter,
               ReshapeContext *context);

  // 2 or 4 if the last Reshape chose it; 0: the caller computes directly.
  int tile() const { return tile_; }
  size_t ScratchBytes(int threads) const;

  // `args.weights` is the filter; the clamp of its epilogue is set here. The
  // first run for a tile transforms the filter, which is then still in the
  // cache when it is read.
  void Run(const gemm::ConvArgs &args,
           const FusedActivation &activation,
           ThreadPool *pool,
           void *scratch);

 private:
  static size_t IndexOf(int tile) { return tile == 2 ? 0 : 1; }
  MaceStatus TakeMemory(void *memory);
  void Transform(const void *filter, ThreadPool *pool);
  size_t ElementBytes() const;
  size_t FilterBytes() const;  // of the plan, where it is prepared

  const winograd::Part *part_ = nullptr;
  const winograd::Kernels *kernels_ = nullptr;
  const gemm::Kernels *gemm_ = nullptr;
  const gemm::Fp16Kernels *fp16_ = nullptr;
  int max_tile_ = 0;
  int tile_ = 0;
  winograd::ConvPlan plan_;
  // Filters transformed for tiles of 2 and of 4; null until needed.
  void *filters_[2] = {nullptr, nullptr};
  bool transformed_[2] = {false, false};
};

}  // namespace mace

#endif  // MACE_OPS_CONV2D_WINOGRAD_CONV_H_
