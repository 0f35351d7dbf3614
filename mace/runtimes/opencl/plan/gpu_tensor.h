// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_PLAN_GPU_TENSOR_H_
#define MACE_RUNTIMES_OPENCL_PLAN_GPU_TENSOR_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/base/data_type.h"
#include "mace/core/base/status.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// How a tensor is stored on the GPU; mace/kernels/opencl/tensor.clh.
enum class GpuStorage : uint8_t {
  kBufferFloat,
  kBufferHalf,
  kBufferInt,
  kBufferInt8,
  kBufferUint8,
  kBufferBool,
  kImageFloat,
  kImageHalf,
  kDenseFloat,
  kDenseHalf,
  kDenseInt,
  kDenseInt8,
  kDenseUint8,
  kDenseBool,
  kNchwFloat,
  kScaledInt8,  // constants only: ConstantLayout::kPackedO16Scaled
};

enum class GpuLayout : uint8_t {
  kPadded,  // a buffer whose channels are padded to whole blocks
  kImage,
  kDense,
  kNchw,
  kPacked,  // constants only, as in the model file
};

// The value of the macro T_<name>: "BF".
const char *StorageCode(GpuStorage storage);

// "buffer of half"
const char *StorageText(GpuStorage storage);

GpuLayout StorageLayout(GpuStorage storage);

inline bool IsImage(GpuStorage storage) {
  return StorageLayout(storage) == GpuLayout::kImage;
}
inline bool IsDense(GpuStorage storage) {
  return StorageLayout(storage) == GpuLayout::kDense;
}
inline bool IsPadded(GpuStorage storage) {
  return StorageLayout(storage) == GpuLayout::kPadded;
}

// The type of the elements.
DataType StorageElement(GpuStorage storage);

// How elements of that type are stored in that layout; MACE_UNSUPPORTED if GPUs
// have no such storage.
Result<GpuStorage> StorageOf(GpuLayout layout, DataType element);

// Where a tensor is in the memory that it shares: <name>_place of tensor.clh.
struct GpuPlace {
  // The offset, in units of four channels in a padded buffer and of elements in
  // a dense one, or the column of an image.
  int64_t x = 0;
  // The units between pixels, or the row of an image.
  int64_t y = 0;
};

// A tensor of the plan: a value of the graph, or one between two launches of an
// operator.
struct GpuTensor {
  int id = -1;  // in the graph; -1 for none
  GpuDims dims;
  GpuStorage storage = GpuStorage::kBufferFloat;
  // The tensor, earlier in the plan, whose memory this one is; -1 for none. It
  // is never an alias itself.
  int alias_of = -1;
  // If it is a part of that tensor, which joins several: the channels of one of
  // the pixels there (otherwise 0), and the first pixel and channel that are
  // its own.
  int64_t joined_channels = 0;
  int64_t first_pixel = 0;
  int64_t first_channel = 0;
  // Of a band of the value: the row of the value that is the tensor's first.
  int64_t first_row = 0;
  // It stays float where activations are half (float_tensors.h).
  bool kept_in_float = false;
  // Its value is known before the run.
  bool is_constant = false;
  // It is copied from or to the host, which chose its storage.
  bool at_border = false;
  // It, or an alias of it, is copied to the host after launch `last`. Of a
  // tensor that is no alias.
  bool copied_out = false;
  // The input or output of the graph in whose memory, which is the caller's,
  // the tensor is; -1: in the partition's own. Of a tensor that is no alias.
  int caller = -1;
  // Steps of the run during which the contents matter; step i is launch i, and
  // what is copied to the GPU before it.
  int first = -1;
  int last = -1;
  // Of the partition: computes it, or is the first after it was copied.
  size_t segment = 0;

  // Of the memory, of a buffer or an image; of a part, without what is before
  // it and after it.
  size_t Bytes() const;
  // Without the offset of the memory.
  GpuPlace Place() const;
  // Of an image, in pixels.
  size_t Width() const { return static_cast<size_t>(dims.blocks() * dims.w); }
  size_t Height() const { return static_cast<size_t>(dims.rows()); }
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_GPU_TENSOR_H_
