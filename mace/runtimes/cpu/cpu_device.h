// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The CPU as a device of the engine.

#ifndef MACE_RUNTIMES_CPU_CPU_DEVICE_H_
#define MACE_RUNTIMES_CPU_CPU_DEVICE_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/engine_options.h"
#include "mace/core/graph/graph.h"
#include "mace/kernels/cpu/isa.h"
#include "mace/runtimes/cpu/cpu_partition.h"

namespace mace {

class CpuDevice final : public HostDevice {
 public:
  // Starts its threads.
  static Result<std::unique_ptr<Device>> Create(const EngineOptions &options);

  DeviceType type() const override { return CPU; }
  // If the processor lacks the arithmetic that the hints ask for, the log says
  // that the model computes in float32.
  MaceStatus CheckHints(const DeploymentHints &hints) const override;
  Support Supports(const Graph &graph,
                   size_t node,
                   const GraphShapes *shapes) const override;
  Result<std::unique_ptr<Partition>> Compile(const Graph &graph,
                                             PartitionSpec spec) override;
  void BeginRun() override { pool_->BindCaller(); }
  void EndRun() override { pool_->UnbindCaller(); }

  MaceStatus MakeOps(Graph *graph) override;
  bool CanCompute(const GraphNode &node) const override;
  MaceStatus Compute(const Graph &graph,
                     size_t node,
                     std::vector<Tensor> *tensors) override;
  ThreadPool *thread_pool() const override { return pool_.get(); }

  // The options with which a partition of this CPU is created; for a device
  // that lets the CPU compute.
  CpuPartitionOptions PartitionOptions(const Graph &graph);

 private:
  CpuDevice(CpuIsa isa, std::unique_ptr<ThreadPool> pool)
      : isa_(isa), pool_(std::move(pool)) {}
  friend class CpuInitContext;

  Result<std::unique_ptr<Op>> MakeOp(const Graph &graph,
                                     const OperatorDef &def,
                                     const OpAttributes &attributes,
                                     const std::vector<int> &inputs);

  const CpuIsa isa_;
  std::unique_ptr<ThreadPool> pool_;
  bool row_bands_ = true;
  bool check_numerics_ = false;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_CPU_DEVICE_H_
