// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_LAUNCH_H_
#define TEST_OPENCL_LAUNCH_H_

#include "test/opencl/call.h"

namespace mace {
namespace test_opencl {

struct LaunchRange {
  cl_uint dims;
  const size_t *offset;  // may be null
  const size_t *global;
  const size_t *local;  // may be null
};

// Checks a launch of a kernel, and describes it in the log.
void CheckKernel(cl_command_queue queue,
                 cl_kernel kernel,
                 const LaunchRange &range,
                 Call *call);

// Whether the queue is one that records; the launch is then recorded, or
// refused.
bool RecordOnQueue(cl_command_queue queue,
                   cl_kernel kernel,
                   const LaunchRange &range,
                   Call *call);

// The function of an extension that this driver emulates or checks; null if
// the device does not have the extension.
void *FindExtensionFunction(const char *name);

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_LAUNCH_H_
