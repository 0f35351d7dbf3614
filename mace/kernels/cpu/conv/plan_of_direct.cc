// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/plan_of_direct.h"

#include <algorithm>

#include "mace/kernels/cpu/conv/direct_run.h"

namespace mace::conv {

PlanOfDirect::PlanOfDirect(const Request &request) {
  request_.shape = request.shape;
  request_.w_type = request.weights;
  request_.arithmetic = request.arithmetic;
  request_.image = request.image;
  request_.results = request.results;
  request_.threads = request.threads;
  plan_ = PlanDirect(request_);
}

std::string PlanOfDirect::Name() const { return DirectName(plan_); }

size_t PlanOfDirect::ScratchBytes(int threads) const {
  return DirectScratchBytes(plan_, threads);
}

void PlanOfDirect::Run(const Args &args,
                       const OutputActivation *activation,
                       ThreadPool *pool,
                       void *scratch) const {
  RunDirect(plan_, args, activation, pool, scratch);
}

size_t PlanOfDirect::RowScratchBytes(ptrdiff_t out_rows) const {
  const Shape &s = request_.shape;
  size_t bytes = 0;
  for (ptrdiff_t count = 1; count <= out_rows; ++count) {
    // The rows that a window covers, with padding.
    const ptrdiff_t reach =
        (count - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
    for (const ptrdiff_t in_rows : {reach, ptrdiff_t{1}}) {
      bytes =
          std::max(bytes, DirectScratchBytes(PlanRows({in_rows, count, 0}), 1));
    }
  }
  return bytes;
}

void PlanOfDirect::RunRows(const ImageRows &rows,
                           const Args &args,
                           const OutputActivation *activation,
                           void *scratch) const {
  RunDirectAlone(PlanRows(rows), args, activation, scratch);
}

DirectPlan PlanOfDirect::PlanRows(const ImageRows &rows) const {
  DirectRequest some = request_;
  some.shape.batch = 1;
  some.shape.in_h = rows.in_rows;
  some.shape.out_h = rows.out_rows;
  some.shape.pad_top = rows.pad_top;
  some.threads = 1;
  some.skipping = &plan_.skipping;
  return PlanDirect(some);
}

}  // namespace mace::conv
