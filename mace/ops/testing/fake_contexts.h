// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The engine's side of cpu_op.h, for a single operator.

#ifndef MACE_OPS_TESTING_FAKE_CONTEXTS_H_
#define MACE_OPS_TESTING_FAKE_CONTEXTS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mace/core/model/op.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/plan_record.h"
#include "mace/ops/testing/guarded_buffer.h"
#include "mace/ops/testing/op_case.h"

namespace mace::op_test {

using Buffers = std::vector<std::unique_ptr<GuardedBuffer>>;

class FakeInitContext final : public InitContext {
 public:
  FakeInitContext(const OperatorDef &def,
                  const OpAttributes &attributes,
                  const std::vector<Tensor> &tensors,
                  const std::vector<CaseInput> &inputs,
                  const DeploymentHints &hints,
                  CpuIsa isa,
                  ThreadPool *pool,
                  Buffers *prepared)
      : def_(def),
        attributes_(attributes),
        tensors_(tensors),
        inputs_(inputs),
        hints_(hints),
        isa_(isa),
        pool_(pool),
        prepared_(prepared) {}

  const OperatorDef &def() const override { return def_; }
  const OpAttributes &attributes() const override { return attributes_; }
  const DeploymentHints &hints() const override { return hints_; }
  size_t input_count() const override { return inputs_.size(); }
  const Tensor *constant(size_t index) const override {
    const bool constant = index < inputs_.size() &&
                          inputs_[index].kind == CaseInput::Kind::kConstant;
    return constant ? &tensors_[index] : nullptr;
  }
  bool has_input(size_t index) const override {
    return index < inputs_.size() &&
           inputs_[index].kind != CaseInput::Kind::kAbsent;
  }
  CpuIsa isa() const override { return isa_; }
  ThreadPool *thread_pool() const override { return pool_; }
  void *AllocatePrepared(size_t bytes) override {
    prepared_->push_back(std::make_unique<GuardedBuffer>(bytes));
    return prepared_->back()->data();
  }

 private:
  const OperatorDef &def_;
  const OpAttributes &attributes_;
  const std::vector<Tensor> &tensors_;
  const std::vector<CaseInput> &inputs_;
  const DeploymentHints &hints_;
  CpuIsa isa_;
  ThreadPool *pool_;
  Buffers *prepared_;
};

struct OutputSpec {
  bool set = false;
  Shape shape;
  DataType data_type = DataType::kUnknown;
};

class FakeShapeContext final : public ShapeContext {
 public:
  FakeShapeContext(const std::vector<const Tensor *> &inputs, size_t outputs)
      : outputs_(outputs), inputs_(inputs) {}

  size_t input_count() const override { return inputs_.size(); }
  size_t output_count() const override { return outputs_.size(); }
  const Tensor *input(size_t index) const override {
    return index < inputs_.size() ? inputs_[index] : nullptr;
  }
  void SetOutput(size_t index,
                 const Shape &shape,
                 DataType data_type) override {
    if (index >= outputs_.size()) {
      violation_ = "SetOutput of a port that is not connected";
      return;
    }
    outputs_[index].set = true;
    outputs_[index].shape = shape;
    outputs_[index].data_type = data_type;
  }
  const std::vector<OutputSpec> &outputs() const { return outputs_; }
  const std::string &violation() const { return violation_; }

 private:
  std::vector<OutputSpec> outputs_;
  std::string violation_;
  const std::vector<const Tensor *> &inputs_;
};

class FakePlanContext final : public RecordingPlanContext {
 public:
  FakePlanContext(const std::vector<const Tensor *> &inputs,
                  const std::vector<Tensor> &outputs,
                  ThreadPool *pool,
                  Buffers *prepared)
      : RecordingPlanContext(pool, &record_),
        inputs_(inputs),
        outputs_(outputs),
        prepared_(prepared) {}

  size_t input_count() const override { return inputs_.size(); }
  size_t output_count() const override { return outputs_.size(); }
  const Tensor *input(size_t index) const override {
    return index < inputs_.size() ? inputs_[index] : nullptr;
  }
  const Tensor *output(size_t index) const override {
    return index < outputs_.size() ? &outputs_[index] : nullptr;
  }

  const PlanRecord &record() const { return record_; }
  size_t prepared_bytes() const {
    size_t total = 0;
    for (const auto &request : record_.prepared) total += request.first;
    return total;
  }
  // To be called after Plan, as in the engine.
  MaceStatus FillPrepared() {
    for (const auto &[bytes, fill] : record_.prepared) {
      prepared_->push_back(std::make_unique<GuardedBuffer>(bytes));
      MACE_RETURN_IF_ERROR(fill(prepared_->back()->data()));
    }
    return MaceStatus();
  }

 private:
  PlanRecord record_;
  const std::vector<const Tensor *> &inputs_;
  const std::vector<Tensor> &outputs_;
  Buffers *prepared_;
};

class FakeRunContext final : public RunContext {
 public:
  FakeRunContext(const std::vector<const Tensor *> &inputs,
                 std::vector<Tensor> *outputs,
                 void *scratch,
                 const OpPlan *plan,
                 ThreadPool *pool)
      : inputs_(inputs),
        outputs_(outputs),
        scratch_(scratch),
        plan_(plan),
        pool_(pool) {}

  size_t input_count() const override { return inputs_.size(); }
  size_t output_count() const override { return outputs_->size(); }
  const Tensor *input(size_t index) const override {
    return index < inputs_.size() ? inputs_[index] : nullptr;
  }
  Tensor *output(size_t index) const override {
    return index < outputs_->size() ? &(*outputs_)[index] : nullptr;
  }
  void *scratch() const override { return scratch_; }
  ThreadPool *thread_pool() const override { return pool_; }
  const OpPlan *plan() const override { return plan_; }

 private:
  const std::vector<const Tensor *> &inputs_;
  std::vector<Tensor> *outputs_;
  void *scratch_;
  const OpPlan *plan_;
  ThreadPool *pool_;
};

// Runs parts of random size in random order on random threads, one at a time:
// code that depends on the division, the order or the thread gives different
// results in every run.
class ShuffledPool final : public ThreadPool {
 public:
  explicit ShuffledPool(int threads) : threads_(threads), engine_(17) {}
  int thread_count() const override { return threads_; }

 protected:
  void Dispatch(int64_t count,
                int64_t grain,
                void *target,
                Callback callback) override {
    struct Part {
      int64_t begin, end;
    };
    std::vector<Part> parts;
    for (int64_t begin = 0; begin < count;) {
      int64_t size = std::min(grain, count - begin);
      if (threads_ > 1) size = 1 + static_cast<int64_t>(engine_()) % size;
      parts.push_back({begin, begin + size});
      begin += size;
    }
    if (threads_ > 1) std::shuffle(parts.begin(), parts.end(), engine_);
    for (const Part &part : parts) {
      const int thread =
          threads_ > 1 ? static_cast<int>(engine_() % threads_) : 0;
      callback(target, part.begin, part.end, thread);
    }
  }

 private:
  int threads_;
  std::mt19937 engine_;
};

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_FAKE_CONTEXTS_H_
