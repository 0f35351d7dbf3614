// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/shape_rules/quantization_shapes.h"

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

}  // namespace mace
