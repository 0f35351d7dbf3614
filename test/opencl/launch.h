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

// The defect in MACE_TEST_OPENCL_DEFECT, "EFFECT WHAT". The effect is that a
// launch is lost ("wrong"), ends the process ("abort"), or never returns
// ("hang"). It concerns kernels that store half ("half": an image of half, or a
// program that was built with a macro =BH or =DH), kernels with images
// ("images"), whose program was built with a macro of that value ("=NF"), or
// with one of the names ("a|b").
//
// True if the launch is to be lost.
bool LosesLaunch(cl_kernel kernel);

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
