// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Inputs and outputs that the application has in memory of the GPU: kernels use
// them in place.

#ifndef MACE_RUNTIMES_OPENCL_RUN_CALLER_MEMORY_H_
#define MACE_RUNTIMES_OPENCL_RUN_CALLER_MEMORY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/memory/border.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/hardware_buffer.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"
#include "mace/runtimes/opencl/plan/gpu_tensor.h"

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

// What kernels have of the caller's memory. The references that it holds keep
// other memory from getting the same address.
struct CallerMemory {
  // HostTensor::data. Null: memory of ours, for the self-test.
  const void *given = nullptr;
  // Null if it is none. Declared first: it has to outlive `memory`.
  HardwareBufferReference hardware_buffer{nullptr, nullptr};
  ClMemory memory;
};

// The hardware buffers of the last run that had any, imported; by tensor of the
// graph.
class HardwareBufferImports {
 public:
  // Checks the hardware buffer of an input or output, and imports it unless
  // that was done for the run before. `what` begins the message: "input 'x'".
  MaceStatus Take(const OpenclRuntime &runtime,
                  const std::string &what,
                  int tensor,
                  const HostTensor &given);
  // Null if none was taken.
  std::shared_ptr<const CallerMemory> Of(int tensor) const;
  // Drops those of tensors that are cl_mem now.
  void DropOthers(const std::vector<CallerTensor> &callers);

 private:
  HardwareBufferApi api_;  // null until it is needed
  std::map<int, std::shared_ptr<const CallerMemory>> imports_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_CALLER_MEMORY_H_
