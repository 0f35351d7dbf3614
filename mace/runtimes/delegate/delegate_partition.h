// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators of a graph that a delegate computes, and their networks.

#ifndef MACE_RUNTIMES_DELEGATE_DELEGATE_PARTITION_H_
#define MACE_RUNTIMES_DELEGATE_DELEGATE_PARTITION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/delegate/delegate_device.h"
#include "mace/runtimes/delegate/segment_description.h"

namespace mace {

// A segment for a set of shapes. Without nodes if all are known before the run.
struct CompiledSegment {
  SegmentNodes nodes;
  std::unique_ptr<DelegateNetwork> network;
  bool restored = false;
};

class DelegatePartition final : public Partition {
 public:
  DelegatePartition(const Graph &graph,
                    PartitionSpec spec,
                    DelegateDevice *device)
      : graph_(graph), spec_(std::move(spec)), device_(device) {}

  // MACE_UNSUPPORTED if the delegate does not take an operator with these
  // shapes.
  Result<std::unique_ptr<PreparedPartition>> Prepare(
      const GraphShapes &shapes) override;
  size_t PreparedBytes() const override {
    return device_->constants()->bytes();
  }
  size_t OperatorCount() const override;

  const Graph &graph() const { return graph_; }
  const PartitionSpec &spec() const { return spec_; }
  DelegateDevice *device() const { return device_; }

 private:
  MaceStatus CheckSupport(const GraphShapes &shapes) const;
  // Without the outputs that only this segment reads.
  SegmentNodes SegmentFor(const GraphShapes &shapes, size_t segment) const;
  bool IsReadElsewhere(int tensor, size_t segment) const;
  MaceStatus Restore(const GraphShapes &shapes, CompiledSegment *segment);
  MaceStatus Compile(const GraphShapes &shapes, CompiledSegment *segment);
  // Of a segment in the cache.
  std::string Key(const DelegateSegment &description) const;

  const Graph &graph_;
  const PartitionSpec spec_;
  DelegateDevice *const device_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_DELEGATE_DELEGATE_PARTITION_H_
