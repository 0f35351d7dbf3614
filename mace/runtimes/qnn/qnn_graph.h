// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A segment as a graph of QNN.

#ifndef MACE_RUNTIMES_QNN_QNN_GRAPH_H_
#define MACE_RUNTIMES_QNN_QNN_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/adapters/common_op.h"
#include "mace/runtimes/qnn/qnn_api.h"

namespace mace {

// Why QNN has no such operator; empty if it has.
std::string QnnRefusal(const DelegateSegment &segment,
                       const DelegateOperator &from,
                       CommonOp *op);

// The name, type and shape of a tensor of the application.
class QnnPort {
 public:
  QnnPort(const DelegateTensor &tensor, uint32_t type);
  // For graphExecute; `id` is what the graph gave it.
  QnnTensor View(uint32_t id, const void *data);

 private:
  std::string name_;
  std::vector<uint32_t> dims_;
  QnnTensor tensor_ = {};
  uint32_t bytes_ = 0;
};

// Adds the operators of a segment to a graph, or only asks the backend about
// each. Tensors that it makes live as long as the object.
class QnnGraphBuilder {
 public:
  QnnGraphBuilder(const QnnBackend &backend, const DelegateSegment &segment)
      : api_(backend.api()), backend_(backend.backend()), segment_(segment) {}

  // The ids of the segment's inputs, then outputs.
  MaceStatus Build(QnnHandle graph, std::vector<uint32_t> *ids);
  // MACE_UNSUPPORTED if the backend does not support an operation.
  MaceStatus Validate();

 private:
  using Dims = std::vector<int64_t>;
  // A node before it is added.
  struct Node {
    const char *type;
    std::vector<QnnTensor> inputs;
    std::vector<QnnTensor> outputs;
    std::vector<QnnParam> params;
  };

  MaceStatus AddAll();
  MaceStatus Add(const DelegateOperator &from);
  MaceStatus AddProduct(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddImageProduct(const DelegateOperator &from, const CommonOp &op);
  MaceStatus Finish(const DelegateOperator &from,
                    const CommonOp &op,
                    QnnTensor product);
  MaceStatus AddActivation(const CommonOp &op,
                           QnnTensor input,
                           QnnTensor output);
  MaceStatus AddOthers(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddNode(Node node);

  const DelegateTensor &At(int tensor) const {
    return segment_.tensors[static_cast<size_t>(tensor)];
  }
  // Errors are kept, and reported by AddNode.
  QnnTensor Tensor(int tensor);
  QnnTensor NewTensor(const DelegateTensor &like, const Dims &dims);
  QnnTensor Filter(const DelegateTensor &filter, bool depthwise);
  QnnTensor Weights(const DelegateTensor &weights);
  QnnTensor Bias(const CommonOp &op, int64_t outputs);
  // Copies the elements.
  QnnTensor Static(uint32_t type,
                   const Dims &dims,
                   const void *data,
                   size_t bytes,
                   const DelegateTensor *quantized);
  // For elements that live as long as the network.
  QnnTensor Constant(uint32_t type,
                     const Dims &dims,
                     const void *data,
                     const DelegateTensor *quantized);
  QnnTensor Create(QnnTensor tensor);
  QnnTensor Describe(uint32_t purpose, uint32_t type, const Dims &dims);
  void SetQuantization(const DelegateTensor &from,
                       int32_t axis,
                       int64_t channels,
                       QnnTensor *to);
  QnnParam Numbers(const char *name, const Dims &values, const Dims &dims);
  static QnnParam Number(const char *name, uint32_t value);
  static QnnParam Flag(const char *name, bool value);
  static QnnParam Real(const char *name, float value);

  const QnnFunctions &api_;
  const QnnHandle backend_;
  const DelegateSegment &segment_;
  QnnHandle graph_ = nullptr;  // null: only validates
  MaceStatus status_;
  std::map<int, QnnTensor> tensors_;
  int made_ = 0;
  // What tensors refer to.
  std::deque<std::string> names_;
  std::deque<std::vector<uint32_t>> dims_;
  std::deque<std::vector<QnnScaleOffset>> scales_;
  std::deque<std::vector<unsigned char>> bytes_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_QNN_QNN_GRAPH_H_
