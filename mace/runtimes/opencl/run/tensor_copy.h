// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Copies between host memory and a tensor as kernels store it, for checks that
// look into a run: they wait for the GPU, and are slow.

#ifndef MACE_RUNTIMES_OPENCL_RUN_TENSOR_COPY_H_
#define MACE_RUNTIMES_OPENCL_RUN_TENSOR_COPY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/plan/gpu_tensor.h"

namespace mace {

// A tensor in the memory of the GPU.
struct StoredTensor {
  GpuStorage storage = GpuStorage::kBufferFloat;
  GpuDims dims;
  cl_mem memory = nullptr;  // null: no launch reads or writes it
  size_t offset = 0;        // in bytes, of a buffer
  size_t bytes = 0;         // with what is between its pixels
  GpuPlace place;           // `offset` counts its x for a buffer
};

// Elements of [N, H, W, C], dense. Half is float32 on the host.
DataType HostElement(GpuStorage storage);
MaceStatus ReadTensor(const ClApi &api,
                      cl_command_queue queue,
                      const StoredTensor &tensor,
                      std::vector<uint8_t> *values);
// Channels that pad the last block become 0, except in a part. `values` has one
// element of HostElement for each of the tensor.
MaceStatus WriteTensor(const ClApi &api,
                       cl_command_queue queue,
                       const StoredTensor &tensor,
                       const std::vector<uint8_t> &values);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_TENSOR_COPY_H_
