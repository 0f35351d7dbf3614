// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MODEL_TENSOR_H_
#define MACE_CORE_MODEL_TENSOR_H_

#include <cstdint>
#include <string>

#include "mace/core/base/data_type.h"
#include "mace/core/base/shape.h"

namespace mace {

// How a constant lies in its bytes (mace.proto, ConstantLayout).
enum class ConstantLayout : uint8_t {
  kPlain = 0,
  kPackedO16 = 1,
  kPackedO16Pairs = 2,
  kPackedO16Scaled = 3,
};
inline constexpr bool IsPacked(ConstantLayout layout) {
  return layout != ConstantLayout::kPlain;
}

struct Quantization;  // quantization.h

// A named value of the graph as an op sees it. The engine owns the memory:
// intermediate tensors lie in the arena and are valid only inside Run;
// constants and inputs of known value are readable in Init and Reshape too.
struct Tensor {
  std::string name;
  DataType data_type = DataType::kUnknown;
  Shape shape;  // logical shape, NHWC for activations of rank 4
  void *data = nullptr;
  // Elements from one row to the next, where a row is a run along the last
  // axis, if the tensor is a part of a wider one; 0 if it is dense. Only a
  // CPU op that allowed it (AllowStrided* in cpu_op.h) sees another value.
  int64_t row_stride = 0;
  bool is_constant = false;
  ConstantLayout layout = ConstantLayout::kPlain;
  int64_t groups = 1;  // of a packed constant
  // What its integers stand for; null if for themselves. It belongs to the
  // model.
  const Quantization *quantization = nullptr;

  template <typename T>
  const T *As() const {
    return static_cast<const T *>(data);
  }
  template <typename T>
  T *MutableAs() {
    return static_cast<T *>(data);
  }
  int64_t elements() const { return shape.Elements(); }
  int64_t row_length() const { return shape.rank() == 0 ? 1 : shape.back(); }
  // Elements from row to row, also of a dense tensor.
  int64_t RowStride() const {
    return row_stride == 0 ? row_length() : row_stride;
  }
  // Dense bytes by shape and type; not those of a packed constant.
  int64_t bytes() const {
    return elements() * static_cast<int64_t>(DataTypeSize(data_type));
  }
};

}  // namespace mace

#endif  // MACE_CORE_MODEL_TENSOR_H_
