// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_GRAPH_ENGINE_OPTIONS_H_
#define MACE_CORE_GRAPH_ENGINE_OPTIONS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/graph/device_settings.h"
#include "mace/public/mace.h"

namespace mace {

// The settings of a MaceEngineConfig.
struct EngineOptions {
  // In order of preference.
  std::vector<DeviceType> devices = {CPU};
  // Set for one subgraph by name; of two entries of a name, the later is valid.
  std::vector<std::pair<std::string, std::vector<DeviceType>>> subgraph_devices;
  // False: one thread per big core.
  bool has_thread_policy = false;
  int num_threads = 0;
  CPUAffinityPolicy affinity = AFFINITY_NONE;
  // Stop at the first operator that produces NaN or infinity.
  bool check_numerics = false;
  // Run operators that are connected by a large tensor in bands of rows. Has no
  // effect with check_numerics, which checks each tensor.
  bool row_bands = true;
  // Device::Start will not be called: the factory opens the driver.
  bool opens_driver = false;
  // Compare the checksum of the weights.
  bool check_weights = false;
  // In bytes; 0: none.
  size_t memory_limit = 0;
  // Of single devices, for their runtimes.
  DeviceSettings device_settings;
};

}  // namespace mace

#endif  // MACE_CORE_GRAPH_ENGINE_OPTIONS_H_
