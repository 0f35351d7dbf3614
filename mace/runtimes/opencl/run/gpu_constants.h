// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_RUN_GPU_CONSTANTS_H_
#define MACE_RUNTIMES_OPENCL_RUN_GPU_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "mace/core/base/pages.h"
#include "mace/core/base/status.h"
#include "mace/core/graph/graph.h"
#include "mace/core/model/tensor.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"

namespace mace {

// Bytes of zeros after the elements of a constant, at least: kernels read whole
// blocks.
inline constexpr size_t kConstantPadding = 16;

// The constants of a model on the GPU, each copied when it is first needed.
class GpuConstants {
 public:
  // A constant of the graph in that form, or, if `form` is null, as it is
  // stored; except for bfloat16, which becomes float32, and pairs of it, which
  // become CL_PACKED_O16. The copy is made when the queue has finished.
  Result<cl_mem> Get(const OpenclRuntime &runtime,
                     cl_command_queue queue,
                     const Graph &graph,
                     int tensor,
                     const ConstantForm *form);
  // Copies a value that is no constant of the graph.
  Result<ClMemory> Upload(const OpenclRuntime &runtime,
                          cl_command_queue queue,
                          const Tensor &tensor,
                          size_t stored_bytes,
                          const ConstantForm *form);
  // After the queue has finished.
  void ReleaseStaging() {
    staging_.clear();
    staged_bytes_ = 0;
  }
  size_t bytes() const { return bytes_; }

 private:
  Result<ClMemory> MakeImage(const OpenclRuntime &runtime,
                             const Tensor &tensor,
                             size_t bytes);

  std::map<std::pair<int, const ConstantForm *>, ClMemory> buffers_;
  // What is copied, and was made for that.
  std::vector<MappedMemory> staging_;
  size_t staged_bytes_ = 0;
  size_t bytes_ = 0;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_GPU_CONSTANTS_H_
