// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of a partition with their memory, for one set of shapes, and the
// run.

#ifndef MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_
#define MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/cl_api.h"
#include "mace/runtimes/opencl/opencl_memory.h"
#include "mace/runtimes/opencl/opencl_partition.h"
#include "mace/runtimes/opencl/opencl_plan.h"

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

 private:
  struct BoundLaunch {
    ClKernel kernel;
    std::array<size_t, 3> global;
    std::array<size_t, 3> local;
    std::vector<ClMemory> tables;  // per kTable argument
  };
  // A plan with its kernels, for one storage of inputs and outputs.
  struct Variant {
    std::vector<BorderStorage> border;
    OpenclPlan plan;
    std::vector<BoundLaunch> launches;
    int64_t generation = 0;  // of the memory that is bound
    std::shared_ptr<const ClMemory> arena;
  };
  // Memory that the host can access, for the copies of one tensor.
  struct Staging {
    ClMemory pinned;
    void *data = nullptr;
    size_t bytes = 0;
  };

  Result<std::vector<BorderStorage>> BorderOf(
      const std::vector<CallerTensor> &callers) const;
  Result<GpuStorage> BorderStorageOf(int tensor, bool nchw) const;
  MaceStatus MakeVariant(std::vector<BorderStorage> border);
  MaceStatus UploadConstants(const OpenclPlan &plan);
  Result<cl_mem> ConstantMemory(int tensor, const ConstantForm *form);
  MaceStatus MakeTables(const PlannedLaunch &planned, BoundLaunch *bound);
  MaceStatus MakeLaunch(const PlannedLaunch &planned, BoundLaunch *bound);
  MaceStatus BindMemory(Variant *variant, const OpenclMemory &memory);
  MaceStatus BindLaunch(const Variant &variant,
                        const OpenclMemory &memory,
                        size_t index);
  Result<cl_mem> MemoryOf(const Variant &variant,
                          const OpenclMemory &memory,
                          int tensor,
                          const ConstantForm *form);
  Result<Staging *> StagingOf(int tensor, size_t bytes);
  MaceStatus WaitFor(cl_event event, cl_command_queue queue);
  MaceStatus ReadExports(size_t segment);
  MaceStatus EnqueueTimed(size_t begin, size_t end, const RunTrace &trace);
  MaceStatus EnqueueLaunch(const BoundLaunch &launch,
                           size_t index,
                           cl_command_queue queue,
                           cl_event *event);
  std::string Describe(size_t launch) const;

  OpenclPartition *partition_;
  const GraphShapes &shapes_;
  const ClApi &api_;
  std::list<Variant> variants_;  // most recently used first
  // Values that are known before the run, by tensor of the graph.
  std::map<int, ClMemory> known_;
  std::map<int, Staging> staging_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_
