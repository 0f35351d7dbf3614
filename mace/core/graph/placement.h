// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Which device runs which operator of a graph, and why.

#ifndef MACE_CORE_GRAPH_PLACEMENT_H_
#define MACE_CORE_GRAPH_PLACEMENT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"

namespace mace {

struct Placement {
  struct Refusal {
    size_t device;
    std::string reason;
  };
  struct NodePlace {
    size_t device = 0;
    double nanos = 0;  // estimated; 0 where shapes are not known
    // The devices that were asked earlier, in that order.
    std::vector<Refusal> refusals;
  };
  // A tensor that is copied from the memory of device `from` to that of device
  // `to`. `from` is kCaller for an input of the model.
  static constexpr size_t kCaller = static_cast<size_t>(-1);
  struct Copy {
    int tensor;
    size_t from;
    size_t to;
  };
  struct Segment {
    size_t device;
    size_t index;  // among the segments of the device
    // The copies to make before the segment runs.
    std::vector<Copy> copies;
  };

  std::vector<NodePlace> nodes;
  std::vector<Segment> segments;          // in the order of execution
  std::vector<PartitionSpec> partitions;  // per device
  // Per output of the graph: the device whose memory it is read from.
  std::vector<size_t> output_devices;
};

// For each subgraph of the model (one, if it names none): the devices on which
// its operators should run, in order of preference. The host runs what they
// cannot, whether it is named or not.
using DeviceWishes = std::vector<std::vector<DeviceType>>;

// `devices`: those that are available, the host last. An operator is placed on
// the first device of its subgraph's wish that supports it. A group of
// operators is placed on the host if the host takes less time than the device
// and the copies before and after the group. `shapes` is null if the model
// leaves them open: then times are not known.
Placement Place(const Graph &graph,
                const std::vector<Device *> &devices,
                const DeviceWishes &wishes,
                const GraphShapes *shapes);

// All of a loop runs on the host, one operator after the other: places it
// there. Defined, as the next function is, by mace/runtimes/cpu:loops, and null
// in a library without loops.
__attribute__((weak, visibility("hidden"))) void PlaceLoopsOnHost(
    const Graph &graph, size_t host, Placement *placement);
// Makes the first operator of each loop wait for all that the loop reads: adds
// to `missing`, for how many of its inputs each node waits, and to `readers`,
// which nodes wait for it. `producer`: the node of each tensor, or -1.
__attribute__((weak, visibility("hidden"))) void WaitBeforeLoops(
    const Graph &graph,
    const std::vector<int> &producer,
    std::vector<int> *missing,
    std::vector<std::vector<int>> *readers);

// What a run uses, for CheckDeviceTensors.
struct RunTensors {
  const Graph &graph;
  const Placement &placement;
  const std::vector<Device *> &devices;
  const std::vector<std::unique_ptr<PreparedPartition>> &partitions;
  const GraphShapes &shapes;
  const std::vector<CallerTensor> &callers;
};

// Whether the inputs and outputs that the caller has in a device's memory
// (HostTensor::memory) can be used there. To be called before the partitions
// are bound: a failure is the caller's, not the device's. Defined by
// mace/runtimes/opencl, and null in a library without it.
__attribute__((weak, visibility("hidden"))) MaceStatus
CheckDeviceTensors(const RunTensors &run);

}  // namespace mace

#endif  // MACE_CORE_GRAPH_PLACEMENT_H_
