// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What an application can ask of the GPU and of the DSP. Accelerators have
// accelerator_options.h of mace/runtimes/delegate.

#ifndef MACE_RUNTIMES_DEVICES_DEVICE_OPTIONS_H_
#define MACE_RUNTIMES_DEVICES_DEVICE_OPTIONS_H_

#include <memory>

#include "mace/core/graph/engine_options.h"
#include "mace/public/mace_accelerators.h"
#include "mace/public/mace_c.h"
#include "mace/public/mace_gpu.h"

namespace mace {

// Files and the queue of the application.
inline constexpr SharedDeviceOption<GPUContext> kGpuContext = {"gpu_context"};

struct GpuOptions {
  GPUPerfHint perf = PERF_DEFAULT;
  GPUPriorityHint priority = PRIORITY_DEFAULT;
};
inline constexpr DeviceOption<GpuOptions> kGpuOptions = {"gpu"};

struct HexagonOptions {
  // Only in a process for unsigned code.
  bool unsigned_pd = false;
  // Whether the following have been set.
  bool has_power = false;
  int corner = HEXAGON_NN_CORNER_RELEASE;
  bool may_lower = false;
  int latency_us = 0;
};
inline constexpr DeviceOption<HexagonOptions> kHexagonOptions = {"hexagon"};

// The context of an application in C. Defined by mace/runtimes/opencl_options,
// and null in a library without it.
__attribute__((weak, visibility("hidden"))) std::shared_ptr<GPUContext>
MakeGpuContext(const mace_gpu &gpu);

}  // namespace mace

#endif  // MACE_RUNTIMES_DEVICES_DEVICE_OPTIONS_H_
