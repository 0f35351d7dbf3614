// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A graph placed on its devices: which device runs which operator, what each
// device has prepared for the last few sets of input shapes, and the run.

#ifndef MACE_CORE_ENGINE_PLACED_GRAPH_H_
#define MACE_CORE_ENGINE_PLACED_GRAPH_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
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
  // Per segment: the copies to make before it, without tensors that are
  // never read.
  std::vector<std::vector<Placement::Copy>> copies;
};

class PlacedGraph {
 public:
  // `devices`: those that are available, the host last; all must outlive the
  // result, and so must `wishes`. `shapes`: the shapes of graph.inputs() that
  // the model declares; empty if it leaves some open. If the call of a device
  // other than the host fails, `*failed` is set to that device.
  static Result<std::unique_ptr<PlacedGraph>> Create(
      const Graph &graph,
      std::vector<Device *> devices,
      const DeviceWishes &wishes,
      HostDevice *host,
      const std::vector<Shape> &shapes,
      Device **failed);

  // What was prepared for these input shapes; prepares it unless it is among
  // the last kMaxPrepared results, which are kept. The pointer is valid until
  // kMaxPrepared other sets of shapes were prepared.
  Result<PreparedRun *> Prepare(const std::vector<Shape> &inputs);

  // The arena must be locked. `callers` are all inputs and outputs.
  MaceStatus Run(PreparedRun *run,
                 const std::vector<CallerTensor> &callers,
                 Arena *arena,
                 RunMetadata *metadata);
  // Allocates the memory of a run that uses none of the caller's buffers.
  MaceStatus TakeMemory(PreparedRun *run, Arena *arena);

  // The first device whose call failed since the last call of this function;
  // null if none failed, or if it was the host.
  Device *TakeFailedDevice();

  const Placement &placement() const { return placement_; }
  const std::vector<Device *> &devices() const { return devices_; }
  // The result of the last Prepare; null if there is none.
  const PreparedRun *last() const {
    return prepared_.empty() ? nullptr : &prepared_.front();
  }
  size_t PreparedBytes() const;
  size_t OperatorCount() const;
  // Everything except the devices that were left out before.
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
  // If `status` is a failure, remembers the device. Returns `status`.
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
  // Adds an input or output to the metadata, unless the device used the
  // caller's memory in place.
  void NoteBorderCopy(const PreparedRun &run,
                      const CallerTensor &caller,
                      size_t device);
  void KeepTimes(const RunMetadata &metadata);

  const Graph &graph_;
  std::vector<Device *> devices_;
  const DeviceWishes &wishes_;
  HostDevice *host_;
  Placement placement_;
  std::vector<std::unique_ptr<Partition>>
      partitions_;                   // null for a device without operators
  std::list<PreparedRun> prepared_;  // most recently used first
  AlignedMemory staging_;  // between two devices, neither of which is the host
  Device *failed_ = nullptr;
  RunMetadata *metadata_ = nullptr;  // of the current run
  // Operators' names and nanoseconds, of the last run that was timed.
  std::vector<std::pair<std::string, int64_t>> measured_;
};

// A placement as text. `shapes_known`: the model or a run has given the input
// shapes.
std::string ExplainText(const std::string &model,
                        bool shapes_known,
                        int threads,
                        const EnginePlacement &placement);

}  // namespace mace

#endif  // MACE_CORE_ENGINE_PLACED_GRAPH_H_
