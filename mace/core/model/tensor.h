// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MODEL_TENSOR_H_
#define MACE_CORE_MODEL_TENSOR_H_

#include <cstdint>
#include <string>

#include "mace/core/base/data_type.h"
#include "mace/core/base/shape.h"

namespace mace {

// The layout of a constant in the data file (mace.proto, ConstantLayout).
enum class ConstantLayout : uint8_t {
  kPlain = 0,
  kPackedO16 = 1,
  kPackedO16Pairs = 2,
  kPackedO16Scaled = 3,
  kPackedN16Fours = 4,
  kPackedO16Fours = 5,
};
constexpr uint32_t LayoutBit(ConstantLayout layout) {
  return 1u << static_cast<uint32_t>(layout);
}
inline constexpr bool IsPacked(ConstantLayout layout) {
  return layout != ConstantLayout::kPlain;
}

struct Quantization;  // quantization.h

// A named value of the graph as an op sees it. The engine owns the memory:
// intermediate tensors are in the arena and valid only inside Run; constants
// and inputs of known value are readable in Init and Reshape too.
struct Tensor {
  std::string name;
  DataType data_type = DataType::kUnknown;
  Shape shape;  // logical shape, NHWC for activations of rank 4
  void *data = nullptr;
  // 0 for a dense tensor. If the tensor is a part of a wider one, the distance
  // in elements from one row (along the last axis) to the next. Only a CPU op
  // that allowed it (AllowStrided* in cpu_op.h) sees a value other than 0.
  int64_t row_stride = 0;
  bool is_constant = false;
  ConstantLayout layout = ConstantLayout::kPlain;
  int64_t groups = 1;  // of a packed constant
  // What its integers stand for; null if for themselves. It belongs to the
  // model or, of a shifted tensor, to the plan.
  const Quantization *quantization = nullptr;
  // What the CPU added to the model's integers of 8 bits, and to their zero
  // point, so that kernels read them as they are stored: 128 makes uint8 of
  // int8, -128 the reverse. Only an operator of Signedness::kSame or kAny, or a
  // quantized one, sees a value other than 0.
  int32_t shift = 0;
  // Null, or the shape in this run, which its data determine: an operator of
  // such results (Trim) sets it in Run. It has the rank of `shape` and no
  // larger dimensions, and the elements are dense in it. `shape` remains what
  // memory is planned for. Only an output of the model may have one.
  const Shape *run_shape = nullptr;

  template <typename T>
  const T *As() const {
    return static_cast<const T *>(data);
  }
  template <typename T>
  T *MutableAs() {
    return static_cast<T *>(data);
  }
  const Shape &RunShape() const {
    return run_shape == nullptr ? shape : *run_shape;
  }
  int64_t elements() const { return shape.Elements(); }
  int64_t row_length() const { return shape.rank() == 0 ? 1 : shape.back(); }
  // Distance in elements from row to row, also for a dense tensor.
  int64_t RowStride() const {
    return row_stride == 0 ? row_length() : row_stride;
  }
  // Bytes of a dense tensor with this shape and type; a packed constant takes
  // another number.
  int64_t bytes() const {
    return elements() * static_cast<int64_t>(DataTypeSize(data_type));
  }
};

}  // namespace mace

#endif  // MACE_CORE_MODEL_TENSOR_H_
