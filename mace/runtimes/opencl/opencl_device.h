// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A GPU as a device of the engine.

#ifndef MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_
#define MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/engine_options.h"
#include "mace/runtimes/opencl/opencl_plan.h"
#include "mace/runtimes/opencl/opencl_runtime.h"
#include "mace/runtimes/opencl_options/opencl_options.h"

namespace mace {

class OpenclDevice final : public Device {
 public:
  static Result<std::unique_ptr<Device>> Create(const EngineOptions &options);

  DeviceType type() const override { return DeviceType::GPU; }
  Support Supports(const Graph &graph,
                   size_t node,
                   const GraphShapes *shapes) const override;
  double CopyNanos(int64_t bytes) const override;
  Result<std::unique_ptr<Partition>> Compile(const Graph &graph,
                                             PartitionSpec spec) override;

  OpenclRuntime *runtime() const { return runtime_.get(); }
  cl_command_queue queue() const { return queue_.get(); }
  ProgramStores stores() const { return {shipped_.get(), cache_.get()}; }
  // Of the calling thread alone.
  ThreadPool *pool() const { return pool_.get(); }
  // A queue that measures times, made when it is first needed; the other one
  // must be idle while it is used.
  Result<cl_command_queue> TimingQueue();

 private:
  OpenclDevice() = default;
  // The choices for a model.
  OpenclPlanOptions PlanOptions(const DeploymentHints &hints) const;
  Result<ClQueue> MakeQueue(cl_command_queue_properties properties) const;

  std::shared_ptr<OpenclRuntime> runtime_;
  std::unique_ptr<ThreadPool> pool_;
  ClQueue queue_;
  ClQueue timing_queue_;
  OpenclOptions options_;
  std::unique_ptr<KVStorage> cache_;
  std::unique_ptr<KVStorage> shipped_;
  bool place_all_ = false;  // whatever the host would take
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_
