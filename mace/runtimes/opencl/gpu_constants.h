// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_GPU_CONSTANTS_H_
#define MACE_RUNTIMES_OPENCL_GPU_CONSTANTS_H_

#include <cstddef>
#include <map>

#include "mace/core/base/status.h"
#include "mace/core/graph/graph.h"
#include "mace/core/model/tensor.h"
#include "mace/runtimes/opencl/cl_api.h"
#include "mace/runtimes/opencl/opencl_runtime.h"

namespace mace {

// Bytes of zeros after the elements of a constant, at least: kernels read whole
// blocks.
inline constexpr size_t kConstantPadding = 16;

// Copies elements to a new buffer, as they are stored, except for bfloat16,
// which becomes float32, and pairs of it, which also become CL_PACKED_O16. The
// elements must remain until the queue has finished.
Result<ClMemory> UploadConstant(const OpenclRuntime &runtime,
                                cl_command_queue queue,
                                const Tensor &tensor,
                                size_t stored_bytes,
                                size_t *device_bytes);

// The constants of a model on the GPU, each copied when it is first needed.
class GpuConstants {
 public:
  Result<cl_mem> Get(const OpenclRuntime &runtime,
                     cl_command_queue queue,
                     const Graph &graph,
                     int tensor);
  size_t bytes() const { return bytes_; }

 private:
  std::map<int, ClMemory> buffers_;
  size_t bytes_ = 0;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_GPU_CONSTANTS_H_
