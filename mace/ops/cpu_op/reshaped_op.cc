// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/reshaped_op.h"

#include <memory>
#include <utility>

namespace mace {
namespace {

// Lets Reshape infer shapes, and drops the rest.
class InferringContext final : public ReshapeContext {
 public:
  InferringContext(ShapeContext *context, ThreadPool *pool, bool computes_half)
      : context_(context), pool_(pool), computes_half_(computes_half) {}

  size_t input_count() const override { return context_->input_count(); }
  size_t output_count() const override { return context_->output_count(); }
  const Tensor *input(size_t index) const override {
    return context_->input(index);
  }
  void SetOutput(size_t index,
                 const Shape &shape,
                 DataType data_type) override {
    const bool half =
        data_type == DataType::kFloat16 || data_type == DataType::kBfloat16;
    context_->SetOutput(
        index, shape, computes_half_ && half ? DataType::kFloat32 : data_type);
  }
  void RequestScratch(size_t) override {}
  void AllowInPlace(size_t, size_t) override {}
  void AllowStridedInput(size_t) override {}
  void AllowStridedOutput(size_t) override {}
  void AllowPart(size_t, size_t, const PartPlace &) override {}
  void RequestPrepared(size_t, Fill) override {}
  ThreadPool *thread_pool() const override { return pool_; }

 private:
  ShapeContext *context_;
  ThreadPool *pool_;
  bool computes_half_;
};

// Lets Reshape plan; the shapes are known.
class PlanningContext final : public ReshapeContext {
 public:
  explicit PlanningContext(PlanContext *context) : context_(context) {}

  size_t input_count() const override { return context_->input_count(); }
  size_t output_count() const override { return context_->output_count(); }
  const Tensor *input(size_t index) const override {
    return context_->input(index);
  }
  void SetOutput(size_t, const Shape &, DataType) override {}
  void RequestScratch(size_t bytes) override {
    context_->RequestScratch(bytes);
  }
  void AllowInPlace(size_t output, size_t input) override {
    context_->AllowInPlace(output, input);
  }
  void AllowStridedInput(size_t input) override {
    context_->AllowStridedInput(input);
  }
  void AllowStridedOutput(size_t output) override {
    context_->AllowStridedOutput(output);
  }
  void AllowPart(size_t output, size_t input, const PartPlace &place) override {
    context_->AllowPart(output, input, place);
  }
  void RequestPrepared(size_t bytes, Fill fill) override {
    context_->RequestPrepared(bytes, std::move(fill));
  }
  ThreadPool *thread_pool() const override { return context_->thread_pool(); }

 private:
  PlanContext *context_;
};

class ReshapedPlan final : public OpPlan {
 public:
  explicit ReshapedPlan(const ReshapedOp *op) : op_(op) {}
  const RowBands *row_bands() const override { return op_->row_bands(); }
  int64_t Macs() const override { return op_->Macs(); }
  ConvPoolArgs Geometry() const override { return op_->Geometry(); }
  std::string KernelName() const override { return op_->KernelName(); }

 private:
  const ReshapedOp *op_;
};

}  // namespace

MaceStatus ReshapedOp::InferShapes(ShapeContext *context) const {
  planned_ = nullptr;
  InferringContext inferring(context, init_pool(),
                             half_use() == HalfUse::kComputes);
  return const_cast<ReshapedOp *>(this)->Reshape(&inferring);
}

MaceStatus ReshapedOp::Plan(PlanContext *context) {
  PlanningContext planning(context);
  MACE_RETURN_IF_ERROR(Reshape(&planning));
  auto plan = std::make_unique<ReshapedPlan>(this);
  planned_ = plan.get();
  context->Keep(std::move(plan));
  return MaceStatus();
}

}  // namespace mace
