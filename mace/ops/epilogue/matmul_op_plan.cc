// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/matmul_op_plan.h"

#include <cstring>
#include <utility>

namespace mace {

void MatMulOpPlan::Make(const matmul::Strategy &strategy,
                        const matmul::Sizes &sizes,
                        PlanContext *context) {
  const int threads = context->thread_pool()->thread_count();
  std::unique_ptr<matmul::Plan> plan;
  if (sizes.Macs() > 0) {
    plan = strategy.MakePlan(sizes, threads);
    context->RequestScratch(plan->ScratchBytes(threads));
  }
  context->Keep(std::make_unique<MatMulOpPlan>(sizes, std::move(plan)));
}

MatMulOpPlan::MatMulOpPlan(const matmul::Sizes &sizes,
                           std::unique_ptr<matmul::Plan> plan)
    : macs_(sizes.Macs()),
      // Integers have results of 32 bits, as float has.
      output_bytes_(static_cast<size_t>(sizes.Outputs()) *
                    gemm::ElementBytes(sizes.c_type)),
      plan_(std::move(plan)) {}

void MatMulOpPlan::Run(const matmul::Args &args, RunContext *context) const {
  if (plan_ == nullptr) {
    // Sums without terms.
    if (output_bytes_ > 0) std::memset(args.c, 0, output_bytes_);
    return;
  }
  plan_->Run(args, context->thread_pool(), context->scratch());
}

std::string MatMulOpPlan::KernelName() const {
  return plan_ == nullptr ? "none" : plan_->Name();
}

}  // namespace mace
