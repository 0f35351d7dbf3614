// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/opencl_partition.h"

#include <vector>

#include "mace/runtimes/opencl/prepared_opencl.h"

namespace mace {

Result<std::unique_ptr<PreparedPartition>> OpenclPartition::Prepare(
    const GraphShapes &shapes) {
  auto prepared = std::make_unique<PreparedOpencl>(&partition_, shapes, test_);
  MACE_RETURN_IF_ERROR(prepared->Prepare());
  return std::unique_ptr<PreparedPartition>(std::move(prepared));
}

size_t OpenclPartition::OperatorCount() const {
  size_t count = 0;
  for (const std::vector<int> &segment : partition_.spec.segments) {
    count += segment.size();
  }
  return count;
}

}  // namespace mace
