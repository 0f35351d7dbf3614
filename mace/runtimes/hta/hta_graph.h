// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A segment as a graph of the HTA.

#ifndef MACE_RUNTIMES_HTA_HTA_GRAPH_H_
#define MACE_RUNTIMES_HTA_HTA_GRAPH_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/adapters/common_op.h"
#include "mace/runtimes/hta/hta_api.h"

namespace mace {

// Why the HTA does not compute such an operator; empty if it does.
std::string HtaRefusal(const DelegateSegment &segment,
                       const DelegateOperator &from,
                       CommonOp *op);

// All tensors have four dimensions: [N, H, W, C], after ones.
using HtaDims = std::array<uint32_t, 4>;
HtaDims HtaDimsOf(const std::vector<int64_t> &shape);
uint32_t HtaElements(const HtaDims &dims);

// Adds the nodes of a segment to an empty graph. The graph copies what it is
// given. Numbers are unsigned: int8 q is uint8 q + 128.
class HtaGraphBuilder {
 public:
  HtaGraphBuilder(const HtaApi &api,
                  int32_t graph,
                  const DelegateSegment &segment)
      : api_(api), graph_(graph), segment_(segment) {}

  MaceStatus Build();
  // Whether weights of several scales were rounded to one.
  bool rounds_weights() const { return rounds_weights_; }

 private:
  // A tensor, and the numbers that 0 and 255 stand for.
  struct Value {
    HtaPort data;
    HtaPort least;
    HtaPort most;
  };
  // Weights of one scale.
  struct Weights {
    std::vector<uint8_t> numbers;  // in the order of the filter
    double step = 1;
    int zero = 0;
  };

  MaceStatus Add(const DelegateOperator &from);
  MaceStatus AddProduct(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddPooling(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddConcat(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddMean(const DelegateOperator &from, const CommonOp &op);
  MaceStatus AddOthers(const DelegateOperator &from, const CommonOp &op);
  // Residual and activation, after which `value` is the output.
  MaceStatus Finish(const DelegateOperator &from,
                    const CommonOp &op,
                    Value value);
  Value Activated(CommonActivation activation, Value value, const HtaDims &to);
  Value Sum(const Value &a, const Value &b, const DelegateTensor &result);

  const DelegateTensor &At(int tensor) const {
    return segment_.tensors[static_cast<size_t>(tensor)];
  }
  // Of a tensor that is an input, a constant, or computed before.
  Value ValueOf(int tensor);
  Value WithRange(HtaPort data, double least, double most);
  Weights WeightsOf(const DelegateTensor &filter, int64_t of_scale);
  Value Filter(const CommonOp &op,
               const DelegateTensor &filter,
               Weights *weights);
  Value Bias(const CommonOp &op,
             const DelegateOperator &from,
             const Weights &weights);

  // Errors are kept, and reported by Build.
  HtaPort Constant(const HtaDims &dims, const void *data, size_t bytes);
  HtaPort Float(double number);
  HtaPort Ints(const std::vector<int32_t> &numbers);
  // [1, vertical, horizontal, 1] without elements.
  HtaPort Steps(const int64_t *pair);
  Value Node(uint32_t operation,
             int32_t padding,
             const std::vector<HtaPort> &inputs,
             const HtaDims &result);
  void Append(uint32_t operation,
              int32_t padding,
              const std::vector<HtaPort> &inputs,
              const std::vector<HtaResult> &results);
  void Keep(const char *call, int error);

  const HtaApi &api_;
  const int32_t graph_;
  const DelegateSegment &segment_;
  std::map<int, Value> values_;
  uint32_t next_node_ = 1;  // 0 has a meaning of its own
  bool rounds_weights_ = false;
  MaceStatus status_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_HTA_HTA_GRAPH_H_
