// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A graph on its devices: which runs what, what each made of the last few sets
// of input shapes, and the run itself.

#ifndef MACE_CORE_ENGINE_PLACED_GRAPH_H_
#define MACE_CORE_ENGINE_PLACED_GRAPH_H_

#include <cstddef>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/graph/placement.h"
#include "mace/core/memory/arena.h"

namespace mace {

// All that a set of input shapes implies.
struct PreparedRun {
  std::vector<Shape> inputs;  // of graph.inputs()
  std::unique_ptr<GraphShapes> shapes;
  std::vector<std::unique_ptr<PreparedPartition>> partitions;  // per device
  // The copies before each segment whose tensor somebody reads.
  std::vector<std::vector<Placement::Copy>> copies;
};

class PlacedGraph {
 public:
  // `devices`: those that are there, the host the last; all outlive the result,
  // as `wishes` does.
  // `shapes`: those of graph.inputs() that the model declares; empty where it
  // leaves some open. `*failed` becomes the device whose call failed, if that
  // is not the host.
  static Result<std::unique_ptr<PlacedGraph>> Create(
      const Graph &graph,
      std::vector<Device *> devices,
      const DeviceWishes &wishes,
      HostDevice *host,
      const std::vector<Shape> &shapes,
      Device **failed);

  // What follows from input shapes: as it was made the last time, or anew. It
  // stays until kMaxPrepared others were asked for.
  Result<PreparedRun *> Prepare(const std::vector<Shape> &inputs);

  // The arena is locked. `callers` are all inputs and outputs.
  MaceStatus Run(PreparedRun *run,
                 const std::vector<CallerTensor> &callers,
                 Arena *arena,
                 RunMetadata *metadata);
  // Takes the memory of a run that finds nothing in the caller's.
  MaceStatus TakeMemory(PreparedRun *run, Arena *arena);

  // The device whose call was the first to fail since the last question; null
  // if none did, or if it was the host.
  Device *TakeFailedDevice();

  const Placement &placement() const { return placement_; }
  const std::vector<Device *> &devices() const { return devices_; }
  // The last one asked for; null if there is none.
  const PreparedRun *last() const {
    return prepared_.empty() ? nullptr : &prepared_.front();
  }
  size_t PreparedBytes() const;
  size_t OperatorCount() const;
  // All but what was left out before.
  EnginePlacement Explain() const;

  static constexpr size_t kMaxPrepared = 8;

 private:
  PlacedGraph(const Graph &graph,
              std::vector<Device *> devices,
              const DeviceWishes &wishes,
              HostDevice *host)
      : graph_(graph),
        devices_(std::move(devices)),
        wishes_(wishes),
        host_(host) {}

  MaceStatus Compile(const std::vector<Shape> &shapes);
  MaceStatus Bind(PreparedRun *run,
                  const std::vector<CallerTensor> &callers,
                  Arena *arena);
  // Remembers the device of a call that failed.
  MaceStatus Note(size_t device, MaceStatus status);
  Result<PreparedRun *> PrepareWith(const std::vector<Shape> &inputs,
                                    std::unique_ptr<GraphShapes> shapes);
  std::vector<Placement::Copy> NeededCopies(const Placement::Segment &segment,
                                            const GraphShapes &shapes) const;
  MaceStatus RunSegments(PreparedRun *run,
                         const std::vector<CallerTensor> &callers,
                         const RunTrace *trace);
  MaceStatus CopyBetween(PreparedRun *run, const Placement::Copy &copy);
  MaceStatus HandOut(PreparedRun *run,
                     const std::vector<CallerTensor> &callers);

  const Graph &graph_;
  std::vector<Device *> devices_;
  const DeviceWishes &wishes_;
  HostDevice *host_;
  Placement placement_;
  std::vector<std::unique_ptr<Partition>>
      partitions_;                   // null if it has nothing
  std::list<PreparedRun> prepared_;  // most recently used first
  AlignedMemory staging_;  // between two devices, neither of which is the host
  Device *failed_ = nullptr;
};

}  // namespace mace

#endif  // MACE_CORE_ENGINE_PLACED_GRAPH_H_
