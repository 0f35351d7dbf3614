// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The engine's side of op.h, for one op alone.

#ifndef MACE_OPS_TESTING_FAKE_CONTEXTS_H_
#define MACE_OPS_TESTING_FAKE_CONTEXTS_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/op.h"
#include "mace/ops/testing/guarded_buffer.h"
#include "mace/ops/testing/op_case.h"

namespace mace::op_test {

using Buffers = std::vector<std::unique_ptr<GuardedBuffer>>;

class FakeInitContext final : public InitContext {
 public:
  FakeInitContext(const OperatorDef &def,
                  const std::vector<Tensor> &tensors,
                  const std::vector<CaseInput> &inputs,
                  const DeploymentHints &hints,
                  Device *device,
                  ThreadPool *pool,
                  Buffers *prepared)
      : def_(def),
        tensors_(tensors),
        inputs_(inputs),
        hints_(hints),
        device_(device),
        pool_(pool),
        prepared_(prepared) {}

  const OperatorDef &def() const override { return def_; }
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
  Device *device() const override { return device_; }
  ThreadPool *thread_pool() const override { return pool_; }
  void *AllocatePrepared(size_t bytes) override {
    prepared_->push_back(std::make_unique<GuardedBuffer>(bytes));
    return prepared_->back()->data();
  }

 private:
  const OperatorDef &def_;
  const std::vector<Tensor> &tensors_;
  const std::vector<CaseInput> &inputs_;
  const DeploymentHints &hints_;
  Device *device_;
  ThreadPool *pool_;
  Buffers *prepared_;
};

struct OutputSpec {
  bool set = false;
  Shape shape;
  DataType data_type = DataType::kUnknown;
};

class FakeReshapeContext final : public ReshapeContext {
 public:
  FakeReshapeContext(const std::vector<const Tensor *> &inputs,
                     size_t outputs,
                     ThreadPool *pool,
                     Buffers *prepared)
      : outputs_(outputs), inputs_(inputs), pool_(pool), prepared_(prepared) {}

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
  void RequestScratch(size_t bytes) override { scratch_ = bytes; }
  void AllowInPlace(size_t output, size_t input) override {
    in_place_.emplace_back(output, input);
  }
  void AllowStridedInput(size_t input) override {
    strided_inputs_.insert(input);
  }
  void AllowStridedOutput(size_t output) override {
    strided_outputs_.insert(output);
  }
  void AllowPart(size_t output, size_t input, const PartPlace &place) override {
    parts_.push_back({output, input, place});
  }
  void RequestPrepared(size_t bytes, Fill fill) override {
    fills_.emplace_back(bytes, std::move(fill));
  }
  size_t prepared_bytes() const {
    size_t total = 0;
    for (const auto &fill : fills_) total += fill.first;
    return total;
  }
  // After Reshape, as the engine does.
  MaceStatus FillPrepared() {
    for (const auto &[bytes, fill] : fills_) {
      prepared_->push_back(std::make_unique<GuardedBuffer>(bytes));
      MACE_RETURN_IF_ERROR(fill(prepared_->back()->data()));
    }
    return MaceStatus();
  }
  ThreadPool *thread_pool() const override { return pool_; }

  const std::vector<OutputSpec> &outputs() const { return outputs_; }
  size_t scratch_bytes() const { return scratch_; }
  // (output, input) of every AllowInPlace.
  const std::vector<std::pair<size_t, size_t>> &in_place() const {
    return in_place_;
  }
  const std::string &violation() const { return violation_; }

  struct Part {
    size_t output;
    size_t input;
    PartPlace place;
  };
  const std::vector<Part> &parts() const { return parts_; }
  const std::set<size_t> &strided_inputs() const { return strided_inputs_; }
  const std::set<size_t> &strided_outputs() const { return strided_outputs_; }

 private:
  std::set<size_t> strided_inputs_;
  std::set<size_t> strided_outputs_;
  std::vector<Part> parts_;
  std::vector<OutputSpec> outputs_;
  size_t scratch_ = 0;
  std::vector<std::pair<size_t, size_t>> in_place_;
  std::string violation_;
  std::vector<std::pair<size_t, Fill>> fills_;
  const std::vector<const Tensor *> &inputs_;
  ThreadPool *pool_;
  Buffers *prepared_;
};

class FakeRunContext final : public RunContext {
 public:
  FakeRunContext(const std::vector<const Tensor *> &inputs,
                 std::vector<Tensor> *outputs,
                 void *scratch,
                 Device *device,
                 ThreadPool *pool)
      : inputs_(inputs),
        outputs_(outputs),
        scratch_(scratch),
        device_(device),
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
  Device *device() const override { return device_; }
  ThreadPool *thread_pool() const override { return pool_; }

 private:
  const std::vector<const Tensor *> &inputs_;
  std::vector<Tensor> *outputs_;
  void *scratch_;
  Device *device_;
  ThreadPool *pool_;
};

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_FAKE_CONTEXTS_H_
