// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/conv/direct_run.h"
#include "mace/kernels/cpu/conv/strategy.h"

namespace mace::conv {
namespace {

class PlanOfDirect final : public Plan, private RowPlan {
 public:
  explicit PlanOfDirect(const Request &request) {
    request_.shape = request.shape;
    request_.w_type = request.weights;
    request_.arithmetic = request.arithmetic;
    request_.image = request.image;
    request_.results = request.results;
    request_.threads = request.threads;
    plan_ = PlanDirect(request_);
  }

  std::string Name() const override { return DirectName(plan_); }
  size_t ScratchBytes(int threads) const override {
    return DirectScratchBytes(plan_, threads);
  }
  bool ResidualMayBeOutput() const override { return plan_.single_pass; }
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override {
    RunDirect(plan_, args, activation, pool, scratch);
  }

  // For a single pixel, other kernels would be used.
  const RowPlan *rows() const override {
    return request_.shape.out_w > 1 ? this : nullptr;
  }
  size_t RowScratchBytes(ptrdiff_t out_rows) const override {
    const Shape &s = request_.shape;
    size_t bytes = 0;
    for (ptrdiff_t count = 1; count <= out_rows; ++count) {
      // The rows that a window covers, with padding.
      const ptrdiff_t reach =
          (count - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
      for (const ptrdiff_t in_rows : {reach, ptrdiff_t{1}}) {
        bytes = std::max(bytes,
                         DirectScratchBytes(PlanRows({in_rows, count, 0}), 1));
      }
    }
    return bytes;
  }
  void RunRows(const ImageRows &rows,
               const Args &args,
               const OutputActivation *activation,
               void *scratch) const override {
    RunDirectAlone(PlanRows(rows), args, activation, scratch);
  }

 private:
  DirectPlan PlanRows(const ImageRows &rows) const {
    DirectRequest some = request_;
    some.shape.batch = 1;
    some.shape.in_h = rows.in_rows;
    some.shape.out_h = rows.out_rows;
    some.shape.pad_top = rows.pad_top;
    some.threads = 1;
    some.skipping = &plan_.skipping;
    return PlanDirect(some);
  }

  DirectRequest request_;
  DirectPlan plan_;
};

class Direct final : public Strategy {
 public:
  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    if (request.layout != FilterLayout::kPanels) return nullptr;
    return std::make_unique<PlanOfDirect>(request);
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeDirect() { return std::make_unique<Direct>(); }

}  // namespace mace::conv
