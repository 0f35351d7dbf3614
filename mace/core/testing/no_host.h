// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_TESTING_NO_HOST_H_
#define MACE_CORE_TESTING_NO_HOST_H_

#include <vector>

#include "mace/core/graph/graph.h"

namespace mace {
namespace core_test {

// For shapes and plans that need no operators of the CPU.
class NoHost final : public HostOps {
 public:
  MaceStatus MakeOps(Graph *) override { return MaceStatus(); }
  bool CanCompute(const GraphNode &) const override { return false; }
  MaceStatus Compute(const Graph &, size_t, std::vector<Tensor> *) override {
    return RuntimeError("nothing is computed before the run");
  }
};

}  // namespace core_test
}  // namespace mace

#endif  // MACE_CORE_TESTING_NO_HOST_H_
