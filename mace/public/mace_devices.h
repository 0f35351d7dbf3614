// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The devices on which models run, and which of them this library and this
// machine have.

#ifndef MACE_PUBLIC_MACE_DEVICES_H_
#define MACE_PUBLIC_MACE_DEVICES_H_

#include <vector>

#include "mace/public/mace_status.h"

namespace mace {

// Where a model runs. Equals `runtime` of the deployment file. NPU is the
// accelerator of a delegate of the application, see mace_delegate.h. (AP-04)
enum DeviceType : int {
  CPU = 0,
  GPU = 2,
  HEXAGON = 3,
  HTA = 4,
  APU = 5,
  HTP = 6,
  NPU = 7,
};

// Newer spelling of DeviceType, used per subgraph. (AP-25)
enum RuntimeType : int {
  RT_CPU = CPU,
  RT_OPENCL = GPU,
  RT_HEXAGON = HEXAGON,
  RT_HTA = HTA,
  RT_APU = APU,
  RT_HTP = HTP,
  RT_NPU = NPU,
};

// The runtimes that this library has and that start on this machine, in the
// order of RuntimeType; they replace what `*runtime_types` had.
// MACE_INVALID_ARGS if it is null. An engine that is created with one of them
// uses it; GetPlacement says which operators run on it. (AP-25)
MACE_API MaceStatus GetRuntimeTypes(std::vector<RuntimeType> *runtime_types);

// How long a runtime takes for a benchmark that is the same for all runtimes.
struct PerformanceInfo {
  // In milliseconds, or relative to the CPU's time (GetCapability). Negative if
  // the runtime can't run the benchmark.
  float exec_time = -1;
};
// What GetCapability tells of a runtime.
struct Capability {
  PerformanceInfo float32_performance;
  // Always negative: this release computes no network in 8-bit integers.
  PerformanceInfo quantized8_performance;
  // Whether the library has the runtime and it starts on this machine.
  bool supported = false;
};
// Runs a block of MobileNet v2 (21 million multiply-accumulates) a few times on
// the runtime with default options, and takes the shortest time. The result is
// divided by `cpu_float32_exec_time`, which is positive: if that is 1, the
// result is in milliseconds; if it is the CPU's result, the result is relative
// to the CPU's time. A library that was built for selected operators needs
// Conv2D and DepthwiseConv2d among them. (AP-25)
MACE_API Capability GetCapability(RuntimeType runtime_type,
                                  float cpu_float32_exec_time = 1.0f);

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_DEVICES_H_
