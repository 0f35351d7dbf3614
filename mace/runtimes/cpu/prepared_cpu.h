// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A partition of the CPU, prepared for a set of shapes: assigns addresses to
// the tensors, and runs the operators.

#ifndef MACE_RUNTIMES_CPU_PREPARED_CPU_H_
#define MACE_RUNTIMES_CPU_PREPARED_CPU_H_

#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "mace/core/graph/device.h"
#include "mace/core/memory/memory_plan.h"
#include "mace/runtimes/cpu/arena_layout.h"
#include "mace/runtimes/cpu/cpu_partition.h"
#include "mace/runtimes/cpu/cpu_plan.h"

namespace mace {

class PreparedCpu final : public PreparedPartition {
 public:
  // `partition` must outlive this object.
  PreparedCpu(const CpuPartition *partition, std::unique_ptr<CpuPlan> plan);

  MaceStatus Bind(const std::vector<CallerTensor> &callers,
                  Arena *arena) override;
  void *HostAddress(int tensor) const override;
  const Shape *RunShape(int tensor) const override;
  MaceStatus CopyIn(int tensor, const HostTensor &from) override;
  MaceStatus CopyOut(int tensor, const HostTensor &to) override;
  MaceStatus Enqueue(size_t segment, const RunTrace *trace) override;
  std::vector<OperatorNote> Explain() const override;
  size_t TensorBytes() const override;

 private:
  // The memory plan for a given set of tensors in the caller's memory.
  struct Placing {
    std::vector<char> external;  // per tensor
    ArenaLayout layout;
    MemoryPlan memory;
  };

  void ChooseExternal(const std::vector<CallerTensor> &callers);
  // Moves the placing for external_ to the front of placings_; creates it if
  // necessary.
  MaceStatus FindPlacing();
  Result<Placing> MakePlacing(const std::vector<char> &external) const;
  ArenaLayout MakeLayout(const std::vector<char> &external) const;
  MaceStatus TakeArena(Arena *arena);
  void BindTensors();
  void BindCallers(const std::vector<CallerTensor> &callers);
  const ArenaLayout &layout() const { return placings_.front().layout; }

  MaceStatus RunNode(size_t node);
  MaceStatus CheckImports(size_t segment) const;

  const CpuPartition *partition_;
  ThreadPool *pool_;
  std::unique_ptr<CpuPlan> plan_;
  std::vector<char> external_;   // of this run
  std::list<Placing> placings_;  // most recently used first
  void *base_ = nullptr;         // of the arena to which tensors are bound
  bool bound_ = false;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_PREPARED_CPU_H_
