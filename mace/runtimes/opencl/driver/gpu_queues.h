// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The queues of one engine.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_GPU_QUEUES_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_GPU_QUEUES_H_

#include <memory>
#include <string>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/cl_recording.h"
#include "mace/runtimes/opencl/driver/gpu_hints.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"

namespace mace {

class GpuQueues {
 public:
  // Opens the driver. `given`: the cl_command_queue of the application, whose
  // context is then used; null: a queue of our own. `replay`: as of
  // OpenclOptions.
  static Result<std::unique_ptr<GpuQueues>> Open(const GpuHints &hints,
                                                 void *given,
                                                 int replay);

  OpenclRuntime *runtime() const { return runtime_.get(); }
  std::shared_ptr<OpenclRuntime> shared_runtime() const { return runtime_; }
  const ClApi &api() const { return runtime_->api(); }
  const GpuDevice &device() const { return runtime_->device(); }
  cl_command_queue queue() const { return queue_.get(); }
  // A queue that measures times, made when it is first needed; the other one
  // must be idle while it is used.
  Result<cl_command_queue> TimingQueue();
  // Null if launches are not recorded.
  ClRecorder *recorder() const { return recorder_.get(); }
  // That the hints have no effect; empty if they may have.
  std::string HintRemark() const;

 private:
  GpuQueues(const GpuHints &hints, bool is_given)
      : hints_(hints), is_given_(is_given) {}
  MaceStatus Take(void *given);
  Result<ClQueue> MakeQueue(cl_command_queue_properties properties) const;

  const GpuHints hints_;
  const bool is_given_;
  std::shared_ptr<OpenclRuntime> runtime_;
  ClQueue queue_;
  ClQueue timing_queue_;
  std::unique_ptr<ClRecorder> recorder_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_GPU_QUEUES_H_
