// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/graph/placement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mace/core/base/status.h"

namespace mace {
namespace {

class Placer {
 public:
  Placer(const Graph &graph,
         const std::vector<Device *> &devices,
         const DeviceWishes &wishes,
         const GraphShapes *shapes)
      : graph_(graph),
        devices_(devices),
        wishes_(wishes),
        shapes_(shapes),
        host_(devices.size() - 1),
        producer_(graph.tensors().size(), -1) {
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      for (int id : graph.nodes()[i].outputs) {
        if (id >= 0) producer_[id] = static_cast<int>(i);
      }
    }
  }

  Placement Place() {
    ChooseDevices();
    if (PlaceLoopsOnHost != nullptr) {
      PlaceLoopsOnHost(graph_, host_, &placement_);
    }
    if (devices_.size() > 1 && shapes_ != nullptr) {
      while (DeclineOneIsland()) {
      }
    }
    MakeSegments();
    FindBorders();
    return std::move(placement_);
  }

 private:
  struct Island {
    size_t device;
    std::vector<int> nodes;
  };

  bool IsKnownNode(size_t node) const {
    return shapes_ != nullptr && shapes_->known_node[node] != 0;
  }
  // Whether an operator computes the tensor during the run.
  bool IsMade(int tensor) const {
    return producer_[tensor] >= 0 &&
           !IsKnownNode(static_cast<size_t>(producer_[tensor]));
  }
  size_t DeviceOf(int tensor) const {
    return placement_.nodes[producer_[tensor]].device;
  }

  void ChooseDevices() {
    placement_.nodes.resize(graph_.nodes().size());
    host_nanos_.resize(graph_.nodes().size(), 0);
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      Placement::NodePlace &place = placement_.nodes[i];
      const Support host = devices_[host_]->Supports(graph_, i, shapes_);
      host_nanos_[i] = host.nanos;
      place.device = host_;
      place.nanos = host.nanos;
      if (IsKnownNode(i)) continue;
      for (DeviceType type : wishes_[graph_.nodes()[i].def->subgraph]) {
        const size_t d = IndexOf(type);
        if (d >= host_) continue;
        const Support support = devices_[d]->Supports(graph_, i, shapes_);
        if (support.supported) {
          place.device = d;
          place.nanos = support.nanos;
          break;
        }
        place.refusals.push_back({d, support.reason});
      }
    }
  }

  // Returns the number of devices if there is no such device.
  size_t IndexOf(DeviceType type) const {
    size_t d = 0;
    while (d < devices_.size() && devices_[d]->type() != type) ++d;
    return d;
  }

  // Greedy: operators that the current device can run come first, so that there
  // are few segments; otherwise in the order of the file. With one device, the
  // result is the file's order.
  template <typename Begin, typename Add>
  void Schedule(Begin begin, Add add) const {
    const size_t count = graph_.nodes().size();
    if (devices_.size() == 1) {
      if (count > 0) begin(0);
      for (size_t i = 0; i < count; ++i) add(static_cast<int>(i));
      return;
    }
    std::vector<int> missing(count, 0);
    std::vector<std::vector<int>> readers(count);
    std::vector<std::vector<int>> ready(devices_.size());
    size_t left = 0;
    if (WaitBeforeLoops != nullptr) {
      WaitBeforeLoops(graph_, producer_, &missing, &readers);
    }
    for (size_t i = 0; i < count; ++i) {
      ++left;
      for (int id : graph_.nodes()[i].inputs) {
        if (id < 0 || producer_[id] < 0) continue;
        ++missing[i];
        readers[producer_[id]].push_back(static_cast<int>(i));
      }
      if (missing[i] == 0) {
        ready[placement_.nodes[i].device].push_back(static_cast<int>(i));
      }
    }
    const auto later = [](int a, int b) { return a > b; };
    for (auto &heap : ready) std::make_heap(heap.begin(), heap.end(), later);
    size_t device = 0;
    while (left > 0) {
      // The device of the earliest operator that is ready.
      int earliest = -1;
      for (size_t d = 0; d < devices_.size(); ++d) {
        if (ready[d].empty()) continue;
        if (earliest < 0 || ready[d].front() < earliest) {
          earliest = ready[d].front();
          device = d;
        }
      }
      begin(device);
      auto &heap = ready[device];
      while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const int node = heap.back();
        heap.pop_back();
        add(node);
        --left;
        for (int reader : readers[node]) {
          if (--missing[reader] > 0) continue;
          auto &other = ready[placement_.nodes[reader].device];
          other.push_back(reader);
          std::push_heap(other.begin(), other.end(), later);
        }
      }
    }
  }

  std::vector<Island> FindIslands() const {
    std::vector<Island> islands;
    Schedule([&](size_t device) { islands.push_back({device, {}}); },
             [&](int node) { islands.back().nodes.push_back(node); });
    return islands;
  }

  // The estimated time of the copies before and after the nodes, if device `d`
  // runs them.
  double CopyNanos(const Island &island, int *copies) const {
    std::vector<char> inside(graph_.nodes().size(), 0);
    for (int node : island.nodes) inside[node] = 1;
    std::vector<char> counted(graph_.tensors().size(), 0);
    double nanos = 0;
    const auto count = [&](int id) {
      if (std::exchange(counted[id], 1) != 0) return;
      ++*copies;
      nanos += devices_[island.device]->CopyNanos(shapes_->tensors[id].bytes());
    };
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      for (int id : graph_.nodes()[i].inputs) {
        if (id < 0 || graph_.tensors()[id].tensor.is_constant) continue;
        const bool made = IsMade(id);
        if (!made && producer_[id] >= 0) continue;  // known
        const bool made_inside = made && inside[producer_[id]] != 0;
        const bool same_device =
            made && DeviceOf(id) == placement_.nodes[i].device;
        if (inside[i] != 0 && !made_inside && !same_device) count(id);
        if (inside[i] == 0 && made_inside && !same_device) count(id);
      }
    }
    for (int id : graph_.outputs()) {
      if (IsMade(id) && inside[producer_[id]] != 0) count(id);
    }
    return nanos;
  }

  // Moves the island that loses the most time to the host. Returns false if all
  // islands save time.
  bool DeclineOneIsland() {
    const std::vector<Island> islands = FindIslands();
    double worst = 0;
    size_t worst_island = islands.size();
    std::string reason;
    for (size_t i = 0; i < islands.size(); ++i) {
      const Island &island = islands[i];
      if (island.device == host_) continue;
      double here = 0;
      double there = 0;
      for (int node : island.nodes) {
        here += placement_.nodes[node].nanos;
        there += host_nanos_[node];
      }
      int copies = 0;
      const double copy = CopyNanos(island, &copies);
      const double loss = here + copy - there;
      if (loss <= worst) continue;
      worst = loss;
      worst_island = i;
      reason = MakeString("a group of ", island.nodes.size(),
                          " operator(s) would take ", Micros(here),
                          " us and its ", copies, " copies ", Micros(copy),
                          " us, but ", Micros(there), " us on ",
                          DeviceName(devices_[host_]->type()));
    }
    if (worst_island == islands.size()) return false;
    for (int node : islands[worst_island].nodes) {
      Placement::NodePlace &place = placement_.nodes[node];
      place.refusals.push_back({place.device, reason});
      place.device = host_;
      place.nanos = host_nanos_[node];
    }
    return true;
  }

  static int64_t Micros(double nanos) {
    return static_cast<int64_t>(std::llround(nanos / 1e3));
  }

  void MakeSegments() {
    placement_.partitions.resize(devices_.size());
    Schedule(
        [&](size_t device) {
          std::vector<std::vector<int>> &own =
              placement_.partitions[device].segments;
          placement_.segments.push_back({device, own.size(), {}});
          own.emplace_back();
        },
        [&](int node) {
          placement_.partitions[placement_.segments.back().device]
              .segments.back()
              .push_back(node);
        });
  }

  // Finds copies, imports and exports, in execution order.
  void FindBorders() {
    // Per device and tensor: whether the device has the tensor.
    std::vector<std::vector<char>> there(
        devices_.size(), std::vector<char>(graph_.tensors().size(), 0));
    for (Placement::Segment &segment : placement_.segments) {
      PartitionSpec &partition = placement_.partitions[segment.device];
      for (int node : partition.segments[segment.index]) {
        for (int id : graph_.nodes()[node].inputs) {
          if (id < 0 || graph_.tensors()[id].tensor.is_constant ||
              there[segment.device][id]) {
            continue;
          }
          there[segment.device][id] = 1;
          const bool is_input = producer_[id] < 0;
          const size_t from = is_input ? Placement::kCaller : DeviceOf(id);
          segment.copies.push_back({id, from, segment.device});
          partition.imports.push_back({id, segment.index});
          if (!is_input) Export(id, from, NextSegment(from, segment));
        }
        for (int id : graph_.nodes()[node].outputs) {
          if (id >= 0) there[segment.device][id] = 1;
        }
      }
    }
    for (int id : graph_.outputs()) {
      // The host provides tensors that no operator computes.
      const size_t device = producer_[id] < 0 ? host_ : DeviceOf(id);
      placement_.output_devices.push_back(device);
      if (graph_.tensors()[id].tensor.is_constant) continue;
      PartitionSpec &partition = placement_.partitions[device];
      if (graph_.tensors()[id].source == TensorSource::kInput &&
          !there[device][id]) {
        there[device][id] = 1;
        partition.imports.push_back({id, 0});
        if (placement_.segments.empty() ||
            placement_.segments.front().device != device) {
          // An additional segment without operators, before all others.
          for (Placement::Segment &segment : placement_.segments) {
            if (segment.device == device) ++segment.index;
          }
          for (auto *borders : {&partition.imports, &partition.exports}) {
            for (PartitionSpec::Border &border : *borders) ++border.segment;
          }
          partition.imports.back().segment = 0;
          partition.segments.insert(partition.segments.begin(),
                                    std::vector<int>());
          placement_.segments.insert(placement_.segments.begin(),
                                     {device, 0, {}});
        }
        placement_.segments.front().copies.push_back(
            {id, Placement::kCaller, device});
      }
      Export(id, device, kEnd);
    }
    for (size_t d = 0; d < devices_.size(); ++d) {
      PartitionSpec &partition = placement_.partitions[d];
      for (PartitionSpec::Border &border : partition.exports) {
        border.segment = std::min(border.segment, partition.segments.size());
      }
    }
  }

  static constexpr size_t kEnd = static_cast<size_t>(-1) / 2;

  // The first segment of `device` that runs after `now` has begun.
  size_t NextSegment(size_t device, const Placement::Segment &now) const {
    size_t next = 0;
    for (const Placement::Segment &segment : placement_.segments) {
      if (&segment == &now) break;
      if (segment.device == device) next = segment.index + 1;
    }
    return next;
  }

  // The export is needed until the last of its readers.
  void Export(int id, size_t device, size_t until) {
    for (PartitionSpec::Border &border :
         placement_.partitions[device].exports) {
      if (border.tensor != id) continue;
      border.segment = std::max(border.segment, until);
      return;
    }
    placement_.partitions[device].exports.push_back({id, until});
  }

  const Graph &graph_;
  const std::vector<Device *> &devices_;
  const DeviceWishes &wishes_;
  const GraphShapes *shapes_;
  const size_t host_;
  std::vector<int> producer_;  // node of each tensor; -1 for none
  std::vector<double> host_nanos_;
  Placement placement_;
};

}  // namespace

Placement Place(const Graph &graph,
                const std::vector<Device *> &devices,
                const DeviceWishes &wishes,
                const GraphShapes *shapes) {
  return Placer(graph, devices, wishes, shapes).Place();
}

}  // namespace mace
