// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/only_reader.h"

namespace mace {

int OnlyReader(const Graph &graph,
               const Readers &readers,
               const PartitionSpec &spec,
               const std::vector<int> &segment,
               int first,
               int node) {
  const GraphNode &entry = graph.nodes()[static_cast<size_t>(node)];
  if (entry.outputs.size() != 1 || entry.outputs[0] < 0) return -1;
  const int id = entry.outputs[0];
  for (const PartitionSpec::Border &border : spec.exports) {
    if (border.tensor == id) return -1;
  }
  const Readers::Entry &read = readers.of[static_cast<size_t>(id)];
  if (read.count != 1 || read.port != 0) return -1;
  const int reader = read.node;
  // It takes the place of `first`: no operator between them computes what it
  // reads.
  bool after = false;
  for (int other : segment) {
    if (other == reader) return after ? reader : -1;
    if (other == first) after = true;
    if (!after || other == node) continue;
    for (int output : graph.nodes()[static_cast<size_t>(other)].outputs) {
      for (int input : graph.nodes()[static_cast<size_t>(reader)].inputs) {
        if (output >= 0 && output == input) return -1;
      }
    }
  }
  return -1;
}

}  // namespace mace
