// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of a partition with their memory, for one set of shapes, and the
// run.

#ifndef MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_
#define MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/caller_memory.h"
#include "mace/runtimes/opencl/cl_api.h"
#include "mace/runtimes/opencl/host_staging.h"
#include "mace/runtimes/opencl/opencl_commands.h"
#include "mace/runtimes/opencl/opencl_memory.h"
#include "mace/runtimes/opencl/opencl_partition.h"
#include "mace/runtimes/opencl/opencl_plan.h"
#include "mace/runtimes/opencl/tensor_copy.h"
#include "mace/runtimes/opencl/tuned_values.h"

namespace mace {

class PreparedOpencl final : public PreparedPartition {
 public:
  // `partition` and `shapes` must outlive the object.
  PreparedOpencl(OpenclPartition *partition, const GraphShapes &shapes);
  ~PreparedOpencl() override;

  // Plans for inputs and outputs as the model declares them, and compiles.
  MaceStatus Prepare();

  MaceStatus Bind(const std::vector<CallerTensor> &callers,
                  Arena *arena) override;
  MaceStatus CopyIn(int tensor, const HostTensor &from) override;
  MaceStatus CopyOut(int tensor, const HostTensor &to) override;
  MaceStatus Enqueue(size_t segment, const RunTrace *trace) override;
  MaceStatus Wait() override;
  std::vector<OperatorNote> Explain() const override;
  size_t TensorBytes() const override;

  // Those that the next Bind finds in its callers.
  HardwareBufferImports *hardware_buffers() { return &hardware_buffers_; }

  // For the self-test, which runs launches one by one. Before Prepare: the
  // plan that Prepare would make. After Bind: that of the next run, and a
  // tensor of it.
  Result<OpenclPlan> PlanAsDeclared() const;
  const OpenclPartition &partition() const { return *partition_; }
  const OpenclPlan &plan() const { return variants_.front().plan; }
  StoredTensor StoredAt(int tensor) const;
  MaceStatus RunLaunch(size_t index);

 private:
  friend class ModelTuning;
  // A plan with its kernels, for one storage of inputs and outputs.
  struct Variant {
    Variant(OpenclDevice *device, const CommandLimits &limits)
        : commands(device, limits) {}

    // Whether kernels use memory of the caller's.
    bool in_caller() const;

    std::vector<BorderStorage> border;
    OpenclPlan plan;
    OpenclCommands commands;
    bool tested = false;
    std::vector<TuningChoice> choices;  // of the plan and of work groups
    int64_t generation = 0;             // of the memory that is bound
    std::shared_ptr<const ClMemory> arena;
    // The caller's memory that is bound, by tensor of the graph. It is
    // retained: no other memory can have its handle, so that a change is always
    // seen.
    std::map<int, std::shared_ptr<const CallerMemory>> callers;
    PlanImages images;
    bool rebind = false;    // kernels do not have all of it yet
    bool recorded = false;  // or need not be
  };

  Result<std::vector<BorderStorage>> BorderOf(
      const std::vector<CallerTensor> &callers) const;
  Result<std::vector<BorderStorage>> DeclaredBorder() const;
  Result<GpuStorage> BorderStorageOf(int tensor, bool nchw) const;
  MaceStatus MakeVariant(const std::vector<BorderStorage> &border);
  // Of one element. `options` are the partition's, but for tuned values.
  Result<std::list<Variant>> NewVariant(
      const std::vector<BorderStorage> &border,
      OpenclPlanOptions options,
      const CommandLimits &limits,
      const ProgramStores &stores);
  MaceStatus Fill(const OpenclPlanOptions &options,
                  const ProgramStores &stores,
                  Variant *variant);
  // What cannot be tuned stays as it was guessed.
  void Tune(const std::vector<BorderStorage> &border);
  OpenclMemory *MemoryIn(Arena *arena) const;
  MaceStatus UploadConstants(const OpenclPlan &plan);
  Result<cl_mem> ConstantMemory(int tensor, const ConstantForm *form);
  MaceStatus BindMemory(Variant *variant, const OpenclMemory &memory);
  // Tests the kernels of a plan that uses the caller's memory, with our own.
  MaceStatus TestInOwnMemory(Variant *variant, OpenclMemory *memory);
  // Retains the caller's memory, and sets `rebind` if it is not the one that is
  // bound.
  MaceStatus TakeCallers(const std::vector<CallerTensor> &callers,
                         Variant *variant);
  Result<std::shared_ptr<const CallerMemory>> RetainCaller(
      const CallerTensor &caller) const;
  MaceStatus RebindCallers(Variant *variant, const OpenclMemory &memory);
  MaceStatus BindAtOperator(const Variant &variant,
                            const OpenclMemory &memory,
                            size_t index);
  MaceStatus BindLaunch(const Variant &variant,
                        const OpenclMemory &memory,
                        size_t index);
  Result<cl_mem> MemoryOf(const Variant &variant,
                          const OpenclMemory &memory,
                          int tensor,
                          const ConstantForm *form);
  MaceStatus ReadExports(size_t segment);
  MaceStatus EnqueueTimed(size_t segment, const RunTrace &trace);
  // Waits for each launch and looks for NaN and infinity (numeric_check.cc).
  MaceStatus EnqueueChecked(size_t segment);
  MaceStatus CheckTensor(int tensor, const PlannedLaunch *launch);
  // The search of the first run with half storage (numeric_check.cc).
  void BeginNanSearch();
  void NoteImport(int tensor, const HostTensor &from);
  MaceStatus CheckExport(int tensor);
  Result<bool> ImportsAreFinite();
  Result<std::vector<float>> FloatsOf(int tensor);
  double LaunchNanos(const OpenclPlan &plan,
                     const PlannedLaunch &planned) const;

  OpenclPartition *partition_;
  const GraphShapes &shapes_;
  const ClApi &api_;
  HardwareBufferImports hardware_buffers_;
  std::list<Variant> variants_;           // most recently used first
  const OpenclMemory *memory_ = nullptr;  // of the last Bind
  // Values that are known before the run, by tensor of the graph.
  std::map<int, ClMemory> known_;
  HostStaging staging_;
  // What half can't hold shows as NaN among the results of finite numbers. They
  // are searched until a run had none.
  enum class NanSearch : uint8_t { kWanted, kFoundNone, kDone };
  NanSearch nan_search_ = NanSearch::kWanted;
  bool imports_finite_ = true;  // of the run, as far as the host has them
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_
