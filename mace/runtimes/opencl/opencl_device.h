// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A GPU as a device of the engine.

#ifndef MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_
#define MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/engine_options.h"
#include "mace/core/graph/node_cost.h"
#include "mace/runtimes/opencl/cl_recording.h"
#include "mace/runtimes/opencl/gpu_hints.h"
#include "mace/runtimes/opencl/kernel_comparison.h"
#include "mace/runtimes/opencl/opencl_plan.h"
#include "mace/runtimes/opencl/opencl_runtime.h"
#include "mace/runtimes/opencl/tuned_values.h"
#include "mace/runtimes/opencl_options/opencl_options.h"

namespace mace {

class SelfTest;

class OpenclDevice final : public Device {
 public:
  static Result<std::unique_ptr<Device>> Create(const EngineOptions &options);
  ~OpenclDevice() override;

  DeviceType type() const override { return DeviceType::GPU; }
  MaceStatus Start(const Graph &graph,
                   const std::vector<Shape> &shapes,
                   const std::vector<std::vector<DeviceType>> &wishes,
                   HostDevice *host) override;
  Support Supports(const Graph &graph,
                   size_t node,
                   const GraphShapes *shapes) const override;
  double CopyNanos(int64_t bytes) const override;
  Result<std::unique_ptr<Partition>> Compile(const Graph &graph,
                                             PartitionSpec spec) override;

  // Estimated time of the kernels of an operator, without that of launching.
  double KernelNanos(const NodeCost &cost) const;
  // Opens the driver; everything below needs it.
  MaceStatus Open();
  // Reads the stored programs again.
  void OpenCache() { cache_ = OpenKernelCache(options_); }
  // What the self-test found; it restricts the choices for a model.
  void SetVerdict(GpuVerdict verdict) { verdict_ = std::move(verdict); }
  // Null unless the kernels of a run have to be tested.
  SelfTest *self_test() const { return self_test_.get(); }
  const GpuVerdict &verdict() const { return verdict_; }
  // The choices for a model.
  OpenclPlanOptions PlanOptions(const DeploymentHints &hints) const;

  OpenclRuntime *runtime() const { return runtime_.get(); }
  std::shared_ptr<OpenclRuntime> shared_runtime() const { return runtime_; }
  cl_command_queue queue() const { return queue_.get(); }
  // The queue, and with it the context, is the application's.
  bool queue_is_given() const { return options_.queue != nullptr; }
  ProgramStores stores() const { return {shipped_.get(), cache_.get()}; }
  TunedParameters *tuned() const { return tuned_.get(); }
  // What is left to tune models, for all sets of shapes together; 0: nothing is
  // to be tuned.
  double tuning_seconds() const { return tuning_seconds_; }
  void SpendTuningSeconds(double seconds) {
    tuning_seconds_ = std::max(0.0, tuning_seconds_ - seconds);
  }
  // Of the calling thread alone.
  ThreadPool *pool() const { return pool_.get(); }
  // A queue that measures times, made when it is first needed; the other one
  // must be idle while it is used.
  Result<cl_command_queue> TimingQueue();
  // Null if launches are not recorded.
  ClRecorder *recorder() const { return recorder_.get(); }
  // That the hints of this engine have no effect; empty if they may have.
  std::string hint_remark() const;

 private:
  OpenclDevice();
  MaceStatus TakeQueue();
  void OpenTunedValues();
  Result<ClQueue> MakeQueue(cl_command_queue_properties properties) const;
  GpuHints hints() const {
    return {options_.perf_hint, options_.priority_hint};
  }

  std::shared_ptr<OpenclRuntime> runtime_;
  std::unique_ptr<ThreadPool> pool_;
  ClQueue queue_;
  ClQueue timing_queue_;
  std::unique_ptr<ClRecorder> recorder_;
  OpenclOptions options_;
  GpuVerdict verdict_;
  std::unique_ptr<SelfTest> self_test_;
  std::unique_ptr<KVStorage> cache_;
  std::unique_ptr<KVStorage> shipped_;
  std::unique_ptr<TunedParameters> tuned_;
  double tuning_seconds_ = 0;
  bool place_all_ = false;  // whatever the host would take
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_OPENCL_DEVICE_H_
