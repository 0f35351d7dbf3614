// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Launches that the driver keeps, so that a run adds all of them to a queue by
// one call: cl_khr_command_buffer, and cl_qcom_recordable_queues of Adreno.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_CL_RECORDING_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_CL_RECORDING_H_

#include <memory>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/launch_split.h"

namespace mace {

class OpenclRuntime;

// A sequence of launches. It must not outlive its recorder, nor the kernels;
// their arguments are those that they have when they are added.
class ClRecording {
 public:
  virtual ~ClRecording() = default;
  virtual MaceStatus Add(cl_kernel kernel, const KernelRange &range) = 0;
  // Ends the sequence, which can then be enqueued.
  virtual MaceStatus Finish() = 0;
  // Adds the launches to the recorder's queue. The previous ones must be done.
  virtual MaceStatus Enqueue() = 0;
};

class ClRecorder {
 public:
  // For recordings that run on `queue`. Null if the driver has neither of the
  // extensions.
  static std::unique_ptr<ClRecorder> Create(const OpenclRuntime &runtime,
                                            cl_command_queue queue);
  virtual ~ClRecorder() = default;
  virtual Result<std::unique_ptr<ClRecording>> Begin() = 0;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_CL_RECORDING_H_
