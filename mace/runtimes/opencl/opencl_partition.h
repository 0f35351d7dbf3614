// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators of a graph that run on the GPU.

#ifndef MACE_RUNTIMES_OPENCL_OPENCL_PARTITION_H_
#define MACE_RUNTIMES_OPENCL_OPENCL_PARTITION_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/runtimes/opencl/gpu_constants.h"
#include "mace/runtimes/opencl/opencl_plan.h"

namespace mace {

class OpenclDevice;

class OpenclPartition final : public Partition {
 public:
  OpenclPartition(const Graph &graph,
                  PartitionSpec spec,
                  const OpenclPlanOptions &options,
                  OpenclDevice *device)
      : graph_(graph),
        spec_(std::move(spec)),
        options_(options),
        device_(device) {}

  Result<std::unique_ptr<PreparedPartition>> Prepare(
      const GraphShapes &shapes) override;
  size_t PreparedBytes() const override { return constants_.bytes(); }
  size_t OperatorCount() const override;

  const Graph &graph() const { return graph_; }
  const PartitionSpec &spec() const { return spec_; }
  const OpenclPlanOptions &options() const { return options_; }
  // A kernel can run no more items than this in a work group, as its compiler
  // found.
  void LimitWorkGroups(size_t items) { options_.traits.max_work_group = items; }
  OpenclDevice *device() const { return device_; }
  GpuConstants *constants() { return &constants_; }

 private:
  const Graph &graph_;
  const PartitionSpec spec_;
  OpenclPlanOptions options_;
  OpenclDevice *device_;
  GpuConstants constants_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_OPENCL_PARTITION_H_
