// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Parts of a graph in the plain values of mace_delegate.h.

#ifndef MACE_RUNTIMES_DELEGATE_SEGMENT_DESCRIPTION_H_
#define MACE_RUNTIMES_DELEGATE_SEGMENT_DESCRIPTION_H_

#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/delegate/plain_constants.h"

namespace mace {

// Some operators of a graph for a set of shapes.
struct SegmentNodes {
  std::vector<int> nodes;    // none of them known before the run
  std::vector<int> inputs;   // tensors of the graph
  std::vector<int> outputs;  // likewise
};

// The nodes of a segment that are computed in the run, with all tensors that
// they read from outside and all that they compute.
SegmentNodes NodesOf(const Graph &graph,
                     const GraphShapes &shapes,
                     const std::vector<int> &segment);

// Which elements of constants a description has. Values that are known before
// the run are in all.
enum class DescribedElements {
  kNone,
  // For questions: those that need no work, and zeros for all others.
  kSample,
  kAll,
};

// `constants` may be null for kNone.
Result<DelegateSegment> Describe(const Graph &graph,
                                 const GraphShapes &shapes,
                                 const SegmentNodes &nodes,
                                 PlainConstants *constants,
                                 DescribedElements elements);

// All of a description that a compiled network depends on, besides elements of
// constants, which the model's checksum stands for.
std::string Fingerprint(const DelegateSegment &segment);

}  // namespace mace

#endif  // MACE_RUNTIMES_DELEGATE_SEGMENT_DESCRIPTION_H_
