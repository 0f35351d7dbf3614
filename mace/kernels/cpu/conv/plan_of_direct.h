// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The plan of a direct convolution, and of strategies that prepare a filter for
// one.

#ifndef MACE_KERNELS_CPU_CONV_PLAN_OF_DIRECT_H_
#define MACE_KERNELS_CPU_CONV_PLAN_OF_DIRECT_H_

#include <cstddef>
#include <string>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/conv/strategy.h"

namespace mace::conv {

class PlanOfDirect : public Plan, protected RowPlan {
 public:
  explicit PlanOfDirect(const Request &request);

  std::string Name() const override;
  size_t ScratchBytes(int threads) const override;
  bool ResidualMayBeOutput() const override { return plan_.single_pass; }
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override;

  // For a single pixel, other kernels would be used.
  const RowPlan *rows() const override {
    return request_.shape.out_w > 1 ? this : nullptr;
  }
  size_t RowScratchBytes(ptrdiff_t out_rows) const override;
  void RunRows(const ImageRows &rows,
               const Args &args,
               const OutputActivation *activation,
               void *scratch) const override;

 protected:
  const DirectPlan &plan() const { return plan_; }

 private:
  DirectPlan PlanRows(const ImageRows &rows) const;

  DirectRequest request_;
  DirectPlan plan_;
};

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_PLAN_OF_DIRECT_H_
