// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Constants of a model as delegates see them: elements in order, floats in 32
// bits, whatever the layout and the type in the data file.

#ifndef MACE_RUNTIMES_DELEGATE_PLAIN_CONSTANTS_H_
#define MACE_RUNTIMES_DELEGATE_PLAIN_CONSTANTS_H_

#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/data_type.h"
#include "mace/core/base/status.h"
#include "mace/core/graph/graph.h"
#include "mace/core/model/tensor.h"

namespace mace {

// The type that a constant of that type has for a delegate.
DataType PlainType(const Tensor &constant);

class PlainConstants {
 public:
  // The elements of a constant of the graph: those of the data file, or a copy,
  // which lives as long as this object. MACE_UNSUPPORTED if the layout is for
  // operators that no delegate computes.
  Result<const void *> Get(const Graph &graph, int tensor);
  // For questions: the elements of the data file where Get would not copy them,
  // or else as many zeros, which live until DropSamples.
  Result<const void *> Sample(const Graph &graph, int tensor);
  void DropSamples() { samples_.clear(); }
  size_t bytes() const;

 private:
  std::map<int, AlignedMemory> copies_;
  // From calloc: pages that nobody reads take no memory.
  std::vector<std::unique_ptr<void, void (*)(void *)>> samples_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_DELEGATE_PLAIN_CONSTANTS_H_
