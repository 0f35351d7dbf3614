// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Copies between the caller's tensors and the graph's (the engine's border). A
// caller's tensor has its own order of dimensions and element type; a tensor of
// the graph is NHWC and has the graph's type.

#ifndef MACE_CORE_MEMORY_BORDER_H_
#define MACE_CORE_MEMORY_BORDER_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/base/data_type.h"
#include "mace/core/base/shape.h"
#include "mace/core/base/thread_pool.h"
#include "mace/public/mace_tensor.h"

namespace mace {

// A tensor in host memory, of the caller or of the graph; or the caller's in a
// device's memory (CheckDeviceTensors).
struct HostTensor {
  // A cl_mem if `memory` is GPU_BUFFER or GPU_IMAGE; an AHardwareBuffer.
  void *data = nullptr;
  DataType data_type = DataType::kUnknown;
  bool nchw = false;  // the order in memory; NHWC otherwise
  MemoryType memory = CPU_BUFFER;
  int64_t capacity_bytes = 0;
  Shape shape;  // as the graph sees it, whatever the order in memory
};

// A caller's buffer is used in place if it has at least the alignment that
// malloc and new give; otherwise too many vector loads of kernels would cross
// cache lines.
constexpr size_t kInPlaceAlignment = alignof(std::max_align_t);

// kUnknown for IDT_NOT_SET.
DataType FromPublicType(IDataType type);

// Whether elements of one type can be written as the other: equal types, and
// any two of float32, float16 and bfloat16 (rounded to nearest even).
bool CanConvert(DataType from, DataType to);

// [N, C, H, W] to [N, H, W, C] and back; shapes of other ranks do not change.
Shape NchwToNhwc(const Shape &shape);
Shape NhwcToNchw(const Shape &shape);

struct BorderCopy {
  const void *from;
  DataType from_type;
  void *to;
  DataType to_type;
  // Shape of the graph's tensor: NHWC for rank 4.
  Shape shape;
  // How dimensions are reordered; only for rank 4.
  enum class Order { kSame, kNchwToNhwc, kNhwcToNchw } order;
};

// The two tensors must not overlap; CanConvert(from_type, to_type) must be
// true.
void CopyAtBorder(const BorderCopy &copy, ThreadPool *pool);

}  // namespace mace

#endif  // MACE_CORE_MEMORY_BORDER_H_
