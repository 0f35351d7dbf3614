// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A segment as a model of the Neuron Adapter.

#ifndef MACE_RUNTIMES_NEURON_NEURON_MODEL_H_
#define MACE_RUNTIMES_NEURON_NEURON_MODEL_H_

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/adapters/common_op.h"
#include "mace/runtimes/neuron/neuron_api.h"

namespace mace {

// Why the Neuron Adapter has no such operator; empty if it has.
std::string NeuronRefusal(const DelegateSegment &segment,
                          const DelegateOperator &from,
                          CommonOp *op);

class NeuronSegmentModel {
 public:
  // A finished model. `segment` need not outlive it, but the elements of
  // constants must.
  static Result<std::unique_ptr<NeuronSegmentModel>> Create(
      std::shared_ptr<const NeuronApi> api, const DelegateSegment &segment);
  ~NeuronSegmentModel();
  NeuronSegmentModel(const NeuronSegmentModel &) = delete;
  NeuronSegmentModel &operator=(const NeuronSegmentModel &) = delete;

  NeuronModel *get() const { return model_; }
  uint32_t operation_count() const { return operation_count_; }

 private:
  using Dims = std::vector<int64_t>;

  NeuronSegmentModel(std::shared_ptr<const NeuronApi> api,
                     const DelegateSegment &segment)
      : api_(std::move(api)), segment_(&segment) {}

  MaceStatus Build();
  MaceStatus Add(const DelegateOperator &from);
  MaceStatus AddConvolution(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddFullyConnected(const DelegateOperator &from,
                               const CommonOp &op);
  MaceStatus AddPooling(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddArithmetic(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddActivation(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddResize(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddOthers(const DelegateOperator &from, const CommonOp &op);
  // For a product with a residual: where it is added, and the product's result.
  uint32_t ResultOfProduct(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddResidual(const DelegateOperator &from,
                         const CommonOp &op,
                         uint32_t product);

  // Operands. Errors are kept, and reported by AddOperation.
  uint32_t Operand(int tensor);
  uint32_t NewTensor(const DelegateTensor &like, const Dims &dims);
  uint32_t Int(int64_t value);
  uint32_t Bool(bool value);
  uint32_t Float(float value);
  uint32_t Ints(const Dims &values);
  uint32_t Filter(const DelegateTensor &filter,
                  const Dims &dims,
                  uint32_t channel_axis,
                  bool quantized);
  uint32_t Bias(const CommonOp &op, int64_t outputs);
  uint32_t AddOperand(int32_t type,
                      const Dims &dims,
                      float scale,
                      int64_t zero_point);
  void SetValue(uint32_t operand, const void *data, size_t bytes);
  MaceStatus AddOperation(int32_t type,
                          const std::vector<uint32_t> &inputs,
                          uint32_t output);
  void Keep(const char *call, int error);

  const std::shared_ptr<const NeuronApi> api_;
  const DelegateSegment *segment_;
  NeuronModel *model_ = nullptr;
  std::map<int, uint32_t> operands_;
  uint32_t operand_count_ = 0;
  uint32_t operation_count_ = 0;
  MaceStatus status_;
  // Values that the model refers to.
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<int32_t>> ints_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_NEURON_NEURON_MODEL_H_
