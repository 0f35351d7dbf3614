// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_ENGINE_MACE_TENSOR_H_
#define MACE_CORE_ENGINE_MACE_TENSOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "mace/core/base/visibility.h"
#include "mace/public/mace_tensor.h"

namespace mace {

class MACE_HIDDEN MaceTensor::Impl {
 public:
  std::vector<int64_t> shape;
  std::shared_ptr<void> data;
  DataFormat format = DataFormat::NHWC;
  IDataType data_type = IDataType::IDT_FLOAT;
  MemoryType memory_type = CPU_BUFFER;
  // Number of elements that the buffer holds, from the shape that was given to
  // the constructor: Run changes the shape, not the buffer. -1 if that shape
  // was not valid.
  int64_t capacity = 0;
};

// The library's access to the members of a caller's tensor.
struct MaceTensorAccess {
  using Impl = MaceTensor::Impl;
  // Null if there was not enough memory for the constructor, or if the tensor
  // was moved from.
  static const Impl *Of(const MaceTensor &tensor) { return tensor.impl_.get(); }
  static Impl *Of(MaceTensor *tensor) { return tensor->impl_.get(); }
};

}  // namespace mace

#endif  // MACE_CORE_ENGINE_MACE_TENSOR_H_
