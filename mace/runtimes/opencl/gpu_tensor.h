// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_GPU_TENSOR_H_
#define MACE_RUNTIMES_OPENCL_GPU_TENSOR_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/base/data_type.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// How a tensor is stored on the GPU; mace/kernels/opencl/tensor.clh.
enum class GpuStorage : uint8_t {
  kBufferFloat,
  kBufferHalf,
  kBufferInt,
  kImageFloat,
  kImageHalf,
  kDenseFloat,
  kDenseHalf,
  kDenseInt,
  kNchwFloat,
};

// The value of the macro T_<name>: "BF".
const char *StorageCode(GpuStorage storage);

// "buffer of half"
const char *StorageText(GpuStorage storage);

constexpr bool IsImage(GpuStorage storage) {
  return storage == GpuStorage::kImageFloat ||
         storage == GpuStorage::kImageHalf;
}
constexpr bool IsDense(GpuStorage storage) {
  return storage == GpuStorage::kDenseFloat ||
         storage == GpuStorage::kDenseHalf ||
         storage == GpuStorage::kDenseInt;
}
// Buffers whose channels are padded to whole blocks.
constexpr bool IsPadded(GpuStorage storage) {
  return storage == GpuStorage::kBufferFloat ||
         storage == GpuStorage::kBufferHalf ||
         storage == GpuStorage::kBufferInt;
}

// Buffers of elements of that type: float32, float16 or int32.
GpuStorage PaddedOf(DataType element);
GpuStorage DenseOf(DataType element);

// The type of the elements.
DataType StorageElement(GpuStorage storage);

// A tensor of the plan: a value of the graph, or one between two launches of an
// operator.
struct GpuTensor {
  int id = -1;  // in the graph; -1 for none
  GpuDims dims;
  GpuStorage storage = GpuStorage::kBufferFloat;
  // The tensor, earlier in the plan, whose memory this one is; -1 for none. It
  // is never an alias itself.
  int alias_of = -1;
  // Its value is known before the run.
  bool is_constant = false;
  // It is copied from or to the host, which chose its storage.
  bool at_border = false;
  // Steps of the run during which the contents matter; step i is launch i, and
  // what is copied to the GPU before it.
  int first = -1;
  int last = -1;
  // Of the partition: computes it, or is the first after it was copied.
  size_t segment = 0;

  // Of the memory of a buffer.
  size_t Bytes() const;
  // Of an image, in pixels.
  size_t Width() const { return static_cast<size_t>(dims.blocks() * dims.w); }
  size_t Height() const { return static_cast<size_t>(dims.rows()); }
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_GPU_TENSOR_H_
