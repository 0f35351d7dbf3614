// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators of a graph that run on the GPU, as the engine knows them.

#ifndef MACE_RUNTIMES_OPENCL_OPENCL_PARTITION_H_
#define MACE_RUNTIMES_OPENCL_OPENCL_PARTITION_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/runtimes/opencl/run/gpu_partition.h"
#include "mace/runtimes/opencl/run/gpu_session.h"
#include "mace/runtimes/opencl/selftest/selftest.h"

namespace mace {

class OpenclPartition final : public Partition {
 public:
  // All must outlive the object. `test`: null unless kernels have to be tested
  // before they run.
  OpenclPartition(const Graph &graph,
                  PartitionSpec spec,
                  GpuSession *session,
                  SelfTest *test)
      : partition_(graph, std::move(spec), session), test_(test) {}

  Result<std::unique_ptr<PreparedPartition>> Prepare(
      const GraphShapes &shapes) override;
  size_t PreparedBytes() const override { return partition_.constants.bytes(); }
  size_t OperatorCount() const override;

 private:
  GpuPartition partition_;
  SelfTest *test_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_OPENCL_PARTITION_H_
