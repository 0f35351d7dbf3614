// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_GRAPH_ENGINE_OPTIONS_H_
#define MACE_CORE_GRAPH_ENGINE_OPTIONS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/public/mace.h"
#include "mace/public/mace_c.h"

namespace mace {

struct AcceleratorOptions;

// For the DSP's runtime.
struct HexagonOptions {
  // Only in a process for unsigned code.
  bool unsigned_pd = false;
  // Whether the following have been set.
  bool has_power = false;
  int corner = HEXAGON_NN_CORNER_RELEASE;
  bool may_lower = false;
  int latency_us = 0;
};

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
  // For the OpenCL runtime, which reads them with ReadOpenclOptions of
  // mace/runtimes/opencl_options. Null: no context was set.
  std::shared_ptr<GPUContext> gpu_context;
  GPUPerfHint gpu_perf_hint = PERF_DEFAULT;
  GPUPriorityHint gpu_priority_hint = PRIORITY_DEFAULT;
  HexagonOptions hexagon;
  // For accelerators, see mace/runtimes/delegate. Null: the defaults.
  std::shared_ptr<const AcceleratorOptions> accelerator;
};

// The context of an application in C. Defined by mace/runtimes/opencl_options,
// and null in a library without it.
__attribute__((weak, visibility("hidden"))) std::shared_ptr<GPUContext>
MakeGpuContext(const mace_gpu &gpu);

}  // namespace mace

#endif  // MACE_CORE_GRAPH_ENGINE_OPTIONS_H_
