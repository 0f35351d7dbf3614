// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_GRAPH_ENGINE_OPTIONS_H_
#define MACE_CORE_GRAPH_ENGINE_OPTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace mace {

// What a MaceEngineConfig holds.
struct EngineOptions {
  // In the order of wish.
  std::vector<DeviceType> devices = {CPU};
  // Set for one subgraph by name.
  std::map<std::string, std::vector<DeviceType>> subgraph_devices;
  // Threads by the policy, or one per big core if none was chosen.
  bool has_thread_policy = false;
  int num_threads = 0;
  CPUAffinityPolicy affinity = AFFINITY_NONE;
  // Stop at the first operator that gives NaN or infinity.
  bool check_numerics = false;
  // Run operators with a large tensor between them in bands of rows, unless
  // check_numerics looks at each tensor.
  bool row_bands = true;
  // Compare the checksum of the weights.
  bool check_weights = false;
};

}  // namespace mace

#endif  // MACE_CORE_GRAPH_ENGINE_OPTIONS_H_
