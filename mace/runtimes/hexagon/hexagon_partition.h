// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators of a graph that run on the DSP, and what a set of shapes
// implies for them.

#ifndef MACE_RUNTIMES_HEXAGON_HEXAGON_PARTITION_H_
#define MACE_RUNTIMES_HEXAGON_HEXAGON_PARTITION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mace/core/base/environment.h"
#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/device.h"
#include "mace/runtimes/hexagon/hexagon_plan.h"
#include "mace/runtimes/hexagon/transport.h"

namespace mace {

class HexagonPartition final : public Partition {
 public:
  HexagonPartition(const Graph &graph,
                   PartitionSpec spec,
                   std::shared_ptr<HexagonTransport> transport,
                   std::shared_ptr<HexagonOnce> once,
                   ThreadPool *pool)
      : graph_(graph),
        spec_(std::move(spec)),
        transport_(std::move(transport)),
        pool_(pool),
        entries_(std::move(once)) {}

  Result<std::unique_ptr<PreparedPartition>> Prepare(
      const GraphShapes &shapes) override;
  size_t PreparedBytes() const override {
    return constants_ == nullptr ? 0 : constants_->bytes();
  }
  size_t OperatorCount() const override;

  const Graph &graph() const { return graph_; }
  const PartitionSpec &spec() const { return spec_; }
  HexagonTransport *transport() const { return transport_.get(); }
  ThreadPool *pool() const { return pool_; }
  // Whether each run logs what its operators took: MACE_HEXAGON_PROFILING=1.
  bool profiling() const { return profiling_; }
  // Of all sets of shapes that were prepared; null if there are none.
  const HexagonMemory *constants() const { return constants_.get(); }

 private:
  MaceStatus FillConstants();

  const Graph &graph_;
  const PartitionSpec spec_;
  std::shared_ptr<HexagonTransport> transport_;
  ThreadPool *pool_;
  const bool profiling_ = EnvironmentIs("MACE_HEXAGON_PROFILING", "1");
  HexagonConstants entries_;
  std::unique_ptr<HexagonMemory> constants_;
};

class PreparedHexagon final : public PreparedPartition {
 public:
  PreparedHexagon(const HexagonPartition *partition,
                  const GraphShapes &shapes,
                  HexagonPlan plan)
      : partition_(partition), shapes_(shapes), plan_(std::move(plan)) {}
  // Takes memory and writes the programs.
  MaceStatus Prepare();

  MaceStatus Bind(const std::vector<CallerTensor> &callers,
                  Arena *arena) override;
  void *HostAddress(int tensor) const override;
  MaceStatus CopyIn(int tensor, const HostTensor &from) override;
  MaceStatus CopyOut(int tensor, const HostTensor &to) override;
  MaceStatus Enqueue(size_t segment, const RunTrace *trace) override;
  std::vector<OperatorNote> Explain() const override;
  size_t TensorBytes() const override;

 private:
  struct Program {
    size_t offset = 0;
    size_t bytes = 0;
  };

  MaceStatus CheckReply(size_t segment,
                        const hexagon::ProgramReply &reply) const;
  void ReportTimes(size_t segment,
                   int64_t start_nanos,
                   int64_t end_nanos,
                   const RunTrace &trace) const;
  OperatorStats StatsOf(int node) const;
  // What a segment's instructions took, for each.
  std::vector<double> CountsOf(size_t segment) const;

  const HexagonPartition *partition_;
  const GraphShapes &shapes_;
  HexagonPlan plan_;
  size_t arena_bytes_ = 0;
  // Programs, then counters.
  std::vector<Program> programs_;
  size_t counters_offset_ = 0;
  size_t counters_bytes_ = 0;
  std::unique_ptr<HexagonMemory> memory_;
  std::unique_ptr<HexagonMemory> border_;
  const HexagonMemory *arena_ = nullptr;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_HEXAGON_PARTITION_H_
