// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The networks of a delegate for a set of shapes, and the memory between them.

#ifndef MACE_RUNTIMES_DELEGATE_PREPARED_DELEGATE_H_
#define MACE_RUNTIMES_DELEGATE_PREPARED_DELEGATE_H_

#include <cstddef>
#include <map>
#include <vector>

#include "mace/core/graph/device.h"
#include "mace/runtimes/delegate/delegate_partition.h"

namespace mace {

// Tensors that cross the border of a segment are in the arena, dense, in the
// host's memory; those inside a segment are the delegate's own.
class PreparedDelegate final : public PreparedPartition {
 public:
  PreparedDelegate(const DelegatePartition *partition,
                   const GraphShapes &shapes,
                   std::vector<CompiledSegment> segments);

  MaceStatus Bind(const std::vector<CallerTensor> &callers,
                  Arena *arena) override;
  void *HostAddress(int tensor) const override;
  MaceStatus CopyIn(int tensor, const HostTensor &from) override;
  MaceStatus CopyOut(int tensor, const HostTensor &to) override;
  MaceStatus Enqueue(size_t segment, const RunTrace *trace) override;
  std::vector<OperatorNote> Explain() const override;
  size_t TensorBytes() const override { return bytes_; }

 private:
  void Place(int tensor);
  MaceStatus Run(CompiledSegment *segment);
  MaceStatus CheckNumerics(const CompiledSegment &segment) const;
  OperatorStats StatsOf(const CompiledSegment &segment) const;

  const DelegatePartition *partition_;
  const GraphShapes &shapes_;
  std::vector<CompiledSegment> segments_;
  // Offsets by tensor.
  std::map<int, size_t> places_;
  size_t bytes_ = 0;
  char *memory_ = nullptr;
  // Kept, so that runs do not allocate.
  std::vector<const void *> inputs_;
  std::vector<void *> outputs_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_DELEGATE_PREPARED_DELEGATE_H_
