// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Finds operators that one kernel may compute.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_ONLY_READER_H_
#define MACE_RUNTIMES_OPENCL_PLAN_ONLY_READER_H_

#include <cstddef>
#include <vector>

#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"

namespace mace {

// Who reads each tensor of the graph.
struct Readers {
  struct Entry {
    int count = 0;
    int node = -1;  // one of them
    size_t port = 0;
  };
  std::vector<Entry> of;

  explicit Readers(const Graph &graph) : of(graph.tensors().size()) {
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const std::vector<int> &inputs = graph.nodes()[i].inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k] < 0) continue;
        Entry &entry = of[static_cast<size_t>(inputs[k])];
        ++entry.count;
        entry.node = static_cast<int>(i);
        entry.port = k;
      }
    }
  }
};

// The operator of the same segment that alone reads the only output of `node`,
// at port 0, and all of whose other inputs are computed before operator
// `first`; -1 if there is none. `first`: `node`, or one before it.
int OnlyReader(const Graph &graph,
               const Readers &readers,
               const PartitionSpec &spec,
               const std::vector<int> &segment,
               int first,
               int node);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_ONLY_READER_H_
