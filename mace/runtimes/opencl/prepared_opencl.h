// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A partition for one set of shapes, as the engine runs it: finds the plan that
// fits the caller's tensors, copies between host and GPU, and launches.

#ifndef MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_
#define MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_

#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/run/bound_plan.h"
#include "mace/runtimes/opencl/run/caller_memory.h"
#include "mace/runtimes/opencl/run/gpu_partition.h"
#include "mace/runtimes/opencl/run/host_staging.h"
#include "mace/runtimes/opencl/run/numeric_check.h"
#include "mace/runtimes/opencl/run/opencl_memory.h"
#include "mace/runtimes/opencl/selftest/selftest.h"

namespace mace {

class PreparedOpencl final : public PreparedPartition {
 public:
  // All must outlive the object. `test`: null unless kernels have to be tested
  // before they run.
  PreparedOpencl(GpuPartition *partition,
                 const GraphShapes &shapes,
                 SelfTest *test);

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

 private:
  // The plan for one storage of inputs and outputs.
  struct Variant {
    std::unique_ptr<BoundPlan> bound;
    bool tested = false;
  };

  BoundPlan &bound() const { return *variants_.front().bound; }
  // Makes the variant for the callers the first one.
  MaceStatus Choose(const std::vector<CallerTensor> &callers);
  MaceStatus MakeVariant(const std::vector<BorderStorage> &border);
  OpenclMemory *MemoryIn(Arena *arena) const;
  // Tests the kernels of a plan that uses the caller's memory, with our own.
  MaceStatus TestInOwnMemory(Variant *variant, OpenclMemory *memory);
  MaceStatus ReadExports(size_t segment);

  ShapedPartition partition_;
  SelfTest *test_;
  HardwareBufferImports hardware_buffers_;
  std::list<Variant> variants_;  // most recently used first
  HostStaging staging_;
  NanSearch nan_search_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PREPARED_OPENCL_H_
