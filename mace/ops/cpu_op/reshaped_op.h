// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that infer shapes and plan in one step, Reshape, and keep what
// follows from it themselves. They run one set of shapes at a time: with other
// shapes the engine calls Reshape again.

#ifndef MACE_OPS_CPU_OP_RESHAPED_OP_H_
#define MACE_OPS_CPU_OP_RESHAPED_OP_H_

#include <string>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"

namespace mace {

// ShapeContext and PlanContext in one; see there.
class ReshapeContext : public ShapeContext {
 public:
  virtual void RequestScratch(size_t bytes) = 0;
  virtual void AllowInPlace(size_t output, size_t input) = 0;
  virtual void AllowStridedInput(size_t input) = 0;
  virtual void AllowStridedOutput(size_t output) = 0;
  virtual void AllowPart(size_t output,
                         size_t input,
                         const PartPlace &place) = 0;
  using Fill = PlanContext::Fill;
  virtual void RequestPrepared(size_t bytes, Fill fill) = 0;
  virtual ThreadPool *thread_pool() const = 0;
};

class ReshapedOp : public CpuOp {
 public:
  virtual MaceStatus Reshape(ReshapeContext *context) = 0;

  // After Reshape.
  virtual const RowBands *row_bands() const { return nullptr; }
  virtual int64_t Macs() const { return 0; }
  virtual ConvPoolArgs Geometry() const { return ConvPoolArgs(); }
  virtual std::string KernelName() const { return std::string(); }

  MaceStatus InferShapes(ShapeContext *context) const final;
  MaceStatus Plan(PlanContext *context) final;
  bool IsReadyFor(const OpPlan *plan) const final { return plan == planned_; }

 private:
  // The plan that the last Reshape was for; null if it was for none.
  mutable const OpPlan *planned_ = nullptr;
};

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_RESHAPED_OP_H_
