// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Which device runs which operator of a graph, and why.

#ifndef MACE_CORE_GRAPH_PLACEMENT_H_
#define MACE_CORE_GRAPH_PLACEMENT_H_

#include <cstddef>
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
    // The devices that were asked before, in that order.
    std::vector<Refusal> refusals;
  };
  // A tensor that lies in the memory of device `from` and is copied into that
  // of device `to`. kCaller: it is an input of the model.
  static constexpr size_t kCaller = static_cast<size_t>(-1);
  struct Copy {
    int tensor;
    size_t from;
    size_t to;
  };
  struct Segment {
    size_t device;
    size_t index;  // among those of the device
    // What is copied before the segment runs.
    std::vector<Copy> copies;
  };

  std::vector<NodePlace> nodes;
  std::vector<Segment> segments;          // in the order of running
  std::vector<PartitionSpec> partitions;  // per device
  // Per output of the graph: the device whose memory it is read from.
  std::vector<size_t> output_devices;
};

// Per subgraph of the model (one, if it names none): the devices that are
// wanted for its operators, the most wanted first. The host runs what they do
// not, whether it is among them or not.
using DeviceWishes = std::vector<std::vector<DeviceType>>;

// `devices`: those that are there, the host the last. An operator goes to the
// first wanted one that supports it; a group of operators whose time, with that
// of the copies around it, is more than the host's goes to the host. `shapes`
// is null where the model leaves them open: then nothing is known about times.
Placement Place(const Graph &graph,
                const std::vector<Device *> &devices,
                const DeviceWishes &wishes,
                const GraphShapes *shapes);

}  // namespace mace

#endif  // MACE_CORE_GRAPH_PLACEMENT_H_
