// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The plan of an operator that is a matrix product, in any arithmetic: MatMul,
// MatMulInteger.

#ifndef MACE_OPS_EPILOGUE_MATMUL_OP_PLAN_H_
#define MACE_OPS_EPILOGUE_MATMUL_OP_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "mace/kernels/cpu/matmul/matmul.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

class MatMulOpPlan final : public OpPlan {
 public:
  // Makes the plan, requests its memory, and passes it to the engine.
  static void Make(const matmul::Strategy &strategy,
                   const matmul::Sizes &sizes,
                   PlanContext *context);

  MatMulOpPlan(const matmul::Sizes &sizes, std::unique_ptr<matmul::Plan> plan);

  void Run(const matmul::Args &args, RunContext *context) const;

  int64_t Macs() const override { return macs_; }
  std::string KernelName() const override;

 private:
  const int64_t macs_;
  const size_t output_bytes_;
  const std::unique_ptr<matmul::Plan> plan_;  // null: nothing to multiply
};

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_MATMUL_OP_PLAN_H_
