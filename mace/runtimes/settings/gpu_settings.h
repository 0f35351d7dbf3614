// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_SETTINGS_GPU_SETTINGS_H_
#define MACE_RUNTIMES_SETTINGS_GPU_SETTINGS_H_

#include <memory>

#include "mace/public/mace_c.h"
#include "mace/public/mace_gpu.h"

namespace mace {

// For the OpenCL runtime, which reads them with ReadOpenclOptions of
// mace/runtimes/opencl_options.
struct GpuSettings {
  static constexpr const char *kName = "gpu";

  std::shared_ptr<GPUContext> context;  // null: none was set
  GPUPerfHint perf_hint = PERF_DEFAULT;
  GPUPriorityHint priority_hint = PRIORITY_DEFAULT;
};

// The context of an application in C. Defined by mace/runtimes/opencl_options,
// and null in a library without it.
__attribute__((weak, visibility("hidden"))) std::shared_ptr<GPUContext>
MakeGpuContext(const mace_gpu &gpu);

}  // namespace mace

#endif  // MACE_RUNTIMES_SETTINGS_GPU_SETTINGS_H_
