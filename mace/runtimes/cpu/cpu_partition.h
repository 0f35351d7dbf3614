// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators of a graph that run on the CPU.

#ifndef MACE_RUNTIMES_CPU_CPU_PARTITION_H_
#define MACE_RUNTIMES_CPU_CPU_PARTITION_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/memory/memory_plan.h"
#include "mace/runtimes/cpu/arena_layout.h"
#include "mace/runtimes/cpu/cpu_plan.h"
#include "mace/runtimes/cpu/storage_types.h"

namespace mace {

// Arena memory that the CPU can access.
class CpuMemory : public DeviceMemory {
 public:
  size_t bytes() const override { return memory_.bytes(); }
  virtual void *data() const { return memory_.data(); }
  // Replaces the memory; false if there is not enough.
  virtual bool Allocate(size_t bytes) { return memory_.Allocate(bytes); }

 private:
  AlignedMemory memory_;
};

struct CpuPartitionOptions {
  ThreadPool *pool = nullptr;
  bool row_bands = true;
  bool check_numerics = false;
  MakeAddedOp make_op;
  // The device that reports name and whose memory in the arena is used, and the
  // function that creates that memory.
  DeviceType device = CPU;
  std::unique_ptr<CpuMemory> (*make_memory)() = [] {
    return std::make_unique<CpuMemory>();
  };
};

class CpuPartition final : public Partition {
 public:
  static Result<std::unique_ptr<Partition>> Create(
      const Graph &graph,
      const PartitionSpec &spec,
      const CpuPartitionOptions &options);

  Result<std::unique_ptr<PreparedPartition>> Prepare(
      const GraphShapes &shapes) override;
  size_t OperatorCount() const override { return nodes_.nodes.size(); }

  const Graph &graph() const { return graph_; }
  const CpuNodes &nodes() const { return nodes_; }
  const CpuPartitionOptions &options() const { return options_; }

 private:
  CpuPartition(const Graph &graph, const CpuPartitionOptions &options)
      : graph_(graph), options_(options) {}

  // Allocates and fills the memory of constants that operators transform.
  MaceStatus FillPrepared(const std::vector<PrepareRequest> &requests);

  const Graph &graph_;
  const CpuPartitionOptions options_;
  CpuNodes nodes_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_CPU_PARTITION_H_
