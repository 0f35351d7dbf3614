// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Inputs and outputs that the application has in OpenCL memory: kernels use
// them in place.

#ifndef MACE_RUNTIMES_OPENCL_CALLER_MEMORY_H_
#define MACE_RUNTIMES_OPENCL_CALLER_MEMORY_H_

#include <string>

#include "mace/core/base/status.h"
#include "mace/core/memory/border.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/runtimes/opencl/gpu_tensor.h"
#include "mace/runtimes/opencl/opencl_runtime.h"

namespace mace {

// Whether kernels use the caller's memory: if it is the GPU's, and if there are
// elements.
bool InGpuMemory(const HostTensor &tensor);

// How such a tensor is stored. MACE_UNSUPPORTED if kernels can't read it.
Result<GpuStorage> CallerStorage(const HostTensor &tensor);

// Whether the cl_mem is one that kernels can use as the tensor. `what` begins
// the message: "input 'x'".
MaceStatus CheckCallerMemory(const OpenclRuntime &runtime,
                             const std::string &what,
                             bool is_input,
                             const HostTensor &tensor);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_CALLER_MEMORY_H_
