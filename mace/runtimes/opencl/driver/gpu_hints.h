// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Clock and priority as an application wishes them: properties of the context
// (Qualcomm) or of queues (Khronos).

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_GPU_HINTS_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_GPU_HINTS_H_

#include <string>

#include "mace/core/base/status.h"
#include "mace/public/mace_gpu.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/gpu_device.h"

namespace mace {

struct GpuHints {
  GPUPerfHint perf = PERF_DEFAULT;
  GPUPriorityHint priority = PRIORITY_DEFAULT;

  bool operator==(const GpuHints &other) const {
    return perf == other.perf && priority == other.priority;
  }
};

// "perf high, priority low"
std::string HintsText(const GpuHints &hints);

// Whether the hints are properties of the context, which all engines of a
// process share.
bool HintsAreOfContext(const GpuDevice &device);

// With the hints that the device knows; without them if the driver refuses.
Result<ClContext> CreateContext(const ClApi &api,
                                const GpuDevice &device,
                                const GpuHints &hints);
Result<ClQueue> CreateQueue(const ClApi &api,
                            const GpuDevice &device,
                            cl_context context,
                            cl_command_queue_properties properties,
                            const GpuHints &hints);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_GPU_HINTS_H_
