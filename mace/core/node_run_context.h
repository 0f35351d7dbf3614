// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What an operator of a program sees when it runs.

#ifndef MACE_CORE_NODE_RUN_CONTEXT_H_
#define MACE_CORE_NODE_RUN_CONTEXT_H_

#include <cstddef>
#include <vector>

#include "mace/core/op.h"
#include "mace/core/program.h"

namespace mace {

// Null for an absent port.
inline const Tensor *TensorAt(const std::vector<ProgramTensor> &tensors,
                              const std::vector<int> &ports,
                              size_t index) {
  if (index >= ports.size() || ports[index] < 0) return nullptr;
  return &tensors[ports[index]].tensor;
}

class NodeRunContext final : public RunContext {
 public:
  NodeRunContext(const ProgramNode *node,
                 std::vector<ProgramTensor> *tensors,
                 Device *device,
                 ThreadPool *pool)
      : node_(node), tensors_(tensors), device_(device), pool_(pool) {}

  size_t input_count() const override { return node_->inputs.size(); }
  size_t output_count() const override { return node_->outputs.size(); }
  const Tensor *input(size_t index) const override {
    return TensorAt(*tensors_, node_->inputs, index);
  }
  Tensor *output(size_t index) const override {
    if (index >= node_->outputs.size() || node_->outputs[index] < 0) {
      return nullptr;
    }
    return &(*tensors_)[node_->outputs[index]].tensor;
  }
  void *scratch() const override { return node_->scratch; }
  Device *device() const override { return device_; }
  ThreadPool *thread_pool() const override { return pool_; }

 private:
  const ProgramNode *node_;
  std::vector<ProgramTensor> *tensors_;
  Device *device_;
  ThreadPool *pool_;
};

}  // namespace mace

#endif  // MACE_CORE_NODE_RUN_CONTEXT_H_
