// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/quantization.h"

#include "mace/core/base/status.h"

namespace mace {
namespace {

bool IsOne(const Shape &shape) {
  return shape.rank() <= 1 && shape.Elements() == 1;
}

}  // namespace

std::string QuantizationProblem(const Shape &shape,
                                const Tensor &scale,
                                const Tensor *zero,
                                DataType type,
                                int64_t axis) {
  if (zero != nullptr && zero->data_type != type) {
    return MakeString("the zero point is ", DataTypeName(zero->data_type),
                      "; expected ", DataTypeName(type));
  }
  if (zero != nullptr && zero->shape.Elements() != scale.shape.Elements()) {
    return MakeString("the scale has shape ", scale.shape.ToString(),
                      " but the zero point ", zero->shape.ToString());
  }
  if (IsOne(scale.shape)) return std::string();
  const int64_t at = shape.NormalizeAxis(axis);
  if (at < 0) {
    return MakeString("axis ", axis, " is out of range for an input of shape ",
                      shape.ToString());
  }
  const int64_t length = shape[static_cast<size_t>(at)];
  if (scale.shape != Shape{length}) {
    return MakeString("the scale has shape ", scale.shape.ToString(),
                      "; expected one number or [", length, "]");
  }
  return std::string();
}

QuantizationLoop::QuantizationLoop(const Shape &shape,
                                   const Shape &scale,
                                   int64_t axis)
    : elements_(shape.Elements()), length_(scale.Elements()) {
  if (length_ <= 1) {
    length_ = 1;
    return;
  }
  const auto at = static_cast<size_t>(shape.NormalizeAxis(axis));
  inner_ = shape.Elements(at + 1, shape.rank());
}

size_t QuantizationLoop::ScratchBytes() const {
  return static_cast<size_t>(length_) * sizeof(int32_t);
}

void QuantizationLoop::Widen(const Tensor *zero, int32_t *to) const {
  for (int64_t i = 0; i < length_; ++i) {
    if (zero == nullptr) {
      to[i] = 0;
    } else if (zero->data_type == DataType::kUint8) {
      to[i] = zero->As<uint8_t>()[i];
    } else if (zero->data_type == DataType::kInt8) {
      to[i] = int32_t{zero->As<int8_t>()[i]};
    } else {
      to[i] = zero->As<int32_t>()[i];
    }
  }
}

}  // namespace mace
