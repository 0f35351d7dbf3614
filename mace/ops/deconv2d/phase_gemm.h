// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A transposed convolution as matrix products: one convolution of stride 1 for
// each phase of outputs (transposed_window.h), by the elements of the filter
// that these meet. Every output is a sum of its own, in one chain, so that no
// split of the work changes a bit; nothing is scattered or added up afterwards.
//
// A task of a phase makes its rows of outputs in scratch and copies them to
// their places, which are a stride apart: a copy from the second-level cache
// per KH * KW * C / stride^2 products.

#ifndef MACE_OPS_DECONV2D_PHASE_GEMM_H_
#define MACE_OPS_DECONV2D_PHASE_GEMM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {

class PhaseGemm {
 public:
  // A part of the filter.
  struct Part {
    TransposedPhase row;
    TransposedPhase column;
    size_t offset = 0;  // bytes
  };
  // What follows from the shapes. Not to outlive the PhaseGemm that made it.
  struct Plan {
    struct Phase {
      conv::DirectPlan direct;
      const Part *part = nullptr;
      int64_t first_task = 0;
    };

    Shape output;
    std::vector<Phase> phases;
    int64_t tasks = 0;
    size_t tile_bytes = 0;     // per thread
    size_t scratch_bytes = 0;  // per thread, beside the tile
  };

  // `filter` is [O, KH, KW, C / groups], packed; `kernels` those that read it.
  // An axis is {vertical, horizontal}.
  void Init(const Tensor &filter,
            const TransposedAxis &rows,
            const TransposedAxis &columns,
            const gemm::Arithmetic *kernels);

  // The filter in the order of the phases: bytes that it takes (64-byte
  // aligned), and its making, once, before the first Run.
  size_t FilterBytes() const { return filter_bytes_; }
  void LayOutFilter(const Tensor &filter, void *memory);

  // `output` is [N, OH, OW, O], none of them 0; `plan` is a new one.
  void FillPlan(const Shape &input,
                const Shape &output,
                int threads,
                Plan *plan) const;
  static size_t ScratchBytes(const Plan &plan, int threads);

  // Sets the weights of `args` itself; `args.output` is dense but
  // for args.output_stride.
  void Run(const Plan &plan,
           const conv::Args &args,
           const FusedActivation &activation,
           ThreadPool *pool,
           void *scratch) const;

 private:
  void RunTask(const Plan &plan,
               const Plan::Phase &phase,
               const conv::Args &args,
               const FusedActivation &activation,
               ptrdiff_t task,
               void *scratch) const;
  void FillUnmet(const Plan &plan,
                 const conv::Args &args,
                 const FusedActivation &activation,
                 ThreadPool *pool,
                 float *pixel) const;

  const gemm::Arithmetic *kernels_ = nullptr;
  gemm::WeightType stored_type_ = gemm::WeightType::kF32;
  gemm::WeightType type_ = gemm::WeightType::kF32;  // as laid out
  Shape filter_;
  int64_t groups_ = 1;
  TransposedAxis axes_[2];
  std::vector<TransposedPhase> phases_[2];
  bool has_unmet_ = false;  // phases that meet nothing
  std::vector<Part> parts_;
  size_t filter_bytes_ = 0;
  const char *laid_out_ = nullptr;
};

}  // namespace mace

#endif  // MACE_OPS_DECONV2D_PHASE_GEMM_H_
