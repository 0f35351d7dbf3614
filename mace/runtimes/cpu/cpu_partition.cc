// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/cpu_partition.h"

#include <numeric>
#include <utility>

#include "mace/core/base/pages.h"
#include "mace/core/base/subnormals.h"
#include "mace/runtimes/cpu/prepared_cpu.h"

namespace mace {

Result<std::unique_ptr<Partition>> CpuPartition::Create(
    const Graph &graph,
    const PartitionSpec &spec,
    const CpuPartitionOptions &options) {
  std::unique_ptr<CpuPartition> partition(new CpuPartition(graph, options));
  CpuNodes &nodes = partition->nodes_;
  for (const std::vector<int> &segment : spec.segments) {
    for (int index : segment) {
      const GraphNode &node = graph.nodes()[static_cast<size_t>(index)];
      nodes.nodes.push_back({node.def, static_cast<CpuOp *>(node.op.get()),
                             index, node.inputs, node.outputs,
                             node.quantized != nullptr});
    }
    nodes.segment_ends.push_back(nodes.nodes.size());
  }
  nodes.imports = spec.imports;
  nodes.exports = spec.exports;
  nodes.graph_tensors = graph.tensors().size();
  nodes.export_of.resize(nodes.graph_tensors);
  std::iota(nodes.export_of.begin(), nodes.export_of.end(), 0);
  // One call: its code is in every library.
  const auto choose = ChooseTypesAndFindLoops == nullptr
                          ? &ChooseStorageTypes
                          : &ChooseTypesAndFindLoops;
  MACE_RETURN_IF_ERROR(choose(graph, options.make_op, &nodes));
  return std::unique_ptr<Partition>(std::move(partition));
}

Result<std::unique_ptr<PreparedPartition>> CpuPartition::Prepare(
    const GraphShapes &shapes) {
  const FlushSubnormals flush;
  std::vector<PrepareRequest> requests;
  MACE_ASSIGN_OR_RETURN(
      std::unique_ptr<CpuPlan> plan,
      PlanOperators(nodes_, graph_, shapes, options_.pool, &requests));
  MACE_RETURN_IF_ERROR(FillPrepared(requests));
  return std::unique_ptr<PreparedPartition>(
      std::make_unique<PreparedCpu>(this, std::move(plan)));
}

// All are in one block, so that many small filters share large pages. If there
// is no memory for the block, the first operator reports the error, because it
// knows how to use less memory.
MaceStatus CpuPartition::FillPrepared(
    const std::vector<PrepareRequest> &requests) {
  if (requests.empty()) return MaceStatus::MACE_SUCCESS;
  size_t total = 0;
  size_t used = 0;
  for (const PrepareRequest &request : requests) {
    total += AlignUp(request.bytes);
    used += request.bytes;
  }
  auto *block = static_cast<char *>(graph_.prepared()->Allocate(total, used));
  if (block == nullptr) {
    return AtOperator(*requests[0].node->def, requests[0].fill(nullptr));
  }
  MapNewMemoryInParts(block, total, options_.pool);
  for (const PrepareRequest &request : requests) {
    MACE_RETURN_IF_ERROR(AtOperator(*request.node->def, request.fill(block)));
    block += AlignUp(request.bytes);
  }
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace mace
