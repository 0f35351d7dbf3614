// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A plan with its kernels and their arguments: what a run of one set of shapes
// launches, for one storage of inputs and outputs.

#ifndef MACE_RUNTIMES_OPENCL_RUN_BOUND_PLAN_H_
#define MACE_RUNTIMES_OPENCL_RUN_BOUND_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"
#include "mace/runtimes/opencl/plan/tuned_values.h"
#include "mace/runtimes/opencl/run/caller_memory.h"
#include "mace/runtimes/opencl/run/gpu_partition.h"
#include "mace/runtimes/opencl/run/opencl_commands.h"
#include "mace/runtimes/opencl/run/opencl_memory.h"
#include "mace/runtimes/opencl/run/tensor_copy.h"

namespace mace {

// How a plan is made.
struct BindingOptions {
  // Those that an engine runs, by default.
  explicit BindingOptions(const ShapedPartition &partition);

  OpenclPlanOptions plan;
  CommandLimits limits;
  ProgramStores stores;
  // Receives the choices of the plan and of work groups; null: nobody needs
  // them.
  std::vector<TuningChoice> *choices = nullptr;
};

class BoundPlan {
 public:
  // Plans, compiles, and makes constants. The partition must outlive the
  // object.
  static Result<std::unique_ptr<BoundPlan>> Make(
      ShapedPartition *partition,
      const std::vector<BorderStorage> &border,
      BindingOptions options);
  BoundPlan(const BoundPlan &) = delete;
  BoundPlan &operator=(const BoundPlan &) = delete;
  // Waits until the driver reads nothing of it.
  ~BoundPlan();

  const OpenclPlan &plan() const { return plan_; }
  const std::vector<BorderStorage> &border() const { return border_; }
  ShapedPartition *partition() const { return partition_; }
  OpenclCommands *commands() { return &commands_; }
  const OpenclCommands &commands() const { return commands_; }
  // Whether kernels use memory of the caller's.
  bool in_caller() const;

  // Retains the caller's memory, which the next binding uses.
  MaceStatus TakeCallers(const std::vector<CallerTensor> &callers,
                         const HardwareBufferImports &imports);
  // Memory of our own, where the caller's would be.
  MaceStatus TakeOwnMemory();
  // Whether the kernels have this state of the memory.
  bool IsBoundTo(const OpenclMemory &memory) const {
    return generation_ == memory.generation();
  }
  // Sets all arguments. `memory`, which must have taken the plan, must outlive
  // the next run.
  MaceStatus Bind(const OpenclMemory &memory);
  // Sets those that are the caller's and changed, if IsBoundTo.
  MaceStatus BindCallers(const OpenclMemory &memory);
  // The next run has to bind it.
  void Unbind() { generation_ = 0; }

  // After Bind: the buffer of all tensors, and a tensor of the plan.
  cl_mem buffer() const { return buffer_->get(); }
  size_t OffsetOf(int tensor) const;  // in that buffer, in bytes
  StoredTensor StoredAt(int tensor) const;

 private:
  BoundPlan(ShapedPartition *partition,
            const std::vector<BorderStorage> &border,
            const CommandLimits &limits)
      : partition_(partition),
        border_(border),
        commands_(partition->queues(), limits) {}

  MaceStatus Fill(const BindingOptions &options,
                  std::vector<TuningChoice> *choices);
  double LaunchNanos(const PlannedLaunch &planned) const;
  Result<std::shared_ptr<const CallerMemory>> Retain(
      const CallerTensor &caller, const HardwareBufferImports &imports) const;
  MaceStatus BindAtOperator(size_t index);
  MaceStatus BindLaunch(size_t index);
  Result<cl_mem> MemoryOf(int tensor, const ConstantForm *form);

  ShapedPartition *partition_;
  const std::vector<BorderStorage> border_;
  OpenclPlan plan_;
  OpenclCommands commands_;
  const OpenclMemory *memory_ = nullptr;
  int64_t generation_ = 0;  // of the memory that is bound
  std::shared_ptr<const ClMemory> buffer_;
  // The caller's memory that is bound, by tensor of the graph. It is retained:
  // no other memory can have its handle, so that a change is always seen.
  std::map<int, std::shared_ptr<const CallerMemory>> callers_;
  PlanImages images_;
  bool callers_changed_ = false;  // kernels do not have all of them yet
  bool recorded_ = false;         // or need not be
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_BOUND_PLAN_H_
