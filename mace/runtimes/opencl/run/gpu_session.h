// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What one engine has on the GPU: queues, stored programs and tuned values, and
// what the self-test found.

#ifndef MACE_RUNTIMES_OPENCL_RUN_GPU_SESSION_H_
#define MACE_RUNTIMES_OPENCL_RUN_GPU_SESSION_H_

#include <algorithm>
#include <memory>
#include <utility>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/model/op.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"
#include "mace/runtimes/opencl/driver/gpu_queues.h"
#include "mace/runtimes/opencl/plan/gpu_verdict.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"
#include "mace/runtimes/opencl/plan/tuned_values.h"
#include "mace/runtimes/opencl_options/opencl_options.h"

namespace mace {

class GpuSession {
 public:
  explicit GpuSession(OpenclOptions options) : options_(std::move(options)) {}
  GpuSession(const GpuSession &) = delete;
  GpuSession &operator=(const GpuSession &) = delete;

  // Opens the driver unless it is open, and the tuned values of its GPU.
  // Everything below from queues() on needs it.
  MaceStatus Open();
  bool is_open() const { return queues_ != nullptr; }
  // Reads what the application ships; makes the pool.
  MaceStatus OpenShipped();
  // Reads the stored programs, again after another process added some.
  void OpenCache() { cache_ = OpenKernelCache(options_); }
  const OpenclOptions &options() const { return options_; }
  // Of the calling thread alone.
  ThreadPool *pool() const { return pool_.get(); }

  // It restricts the choices for a model.
  void SetVerdict(GpuVerdict verdict) { verdict_ = std::move(verdict); }
  const GpuVerdict &verdict() const { return verdict_; }

  GpuQueues *queues() const { return queues_.get(); }
  OpenclRuntime *runtime() const { return queues_->runtime(); }
  ProgramStores stores() const { return {shipped_.get(), cache_.get()}; }
  TunedParameters *tuned() const { return tuned_.get(); }
  // What is left to tune models, for all sets of shapes together; 0: nothing is
  // to be tuned.
  double tuning_seconds() const { return tuning_seconds_; }
  void SpendTuningSeconds(double seconds) {
    tuning_seconds_ = std::max(0.0, tuning_seconds_ - seconds);
  }
  // The choices for a model.
  OpenclPlanOptions PlanOptions(const DeploymentHints &hints) const;

 private:
  void OpenTunedValues();

  const OpenclOptions options_;
  std::unique_ptr<GpuQueues> queues_;
  std::unique_ptr<ThreadPool> pool_;
  GpuVerdict verdict_;
  std::unique_ptr<KVStorage> cache_;
  std::unique_ptr<KVStorage> shipped_;
  std::unique_ptr<TunedParameters> tuned_;
  double tuning_seconds_ = 0;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_GPU_SESSION_H_
