// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/hexagon_op.h"

namespace mace {

HexagonDims HexagonDims::Of(const Shape &shape) {
  HexagonDims dims;
  const size_t rank = shape.rank();
  if (rank > 0) dims.channels = shape[rank - 1];
  if (rank > 1) dims.width = shape[rank - 2];
  if (rank > 2) dims.height = shape[rank - 3];
  if (rank > 3) dims.batch = shape.Elements(0, rank - 3);
  return dims;
}

HexagonNumbers HexagonNumbers::Of(const Tensor &tensor) {
  constexpr int32_t kHalfRange = 128;
  HexagonNumbers numbers;
  const Quantization *q = tensor.quantization;
  if (q != nullptr && !q->scales.empty()) numbers.scale = q->scales[0];
  if (q != nullptr && !q->zero_points.empty()) {
    numbers.zero = static_cast<int32_t>(q->zero_points[0]);
  }
  if (tensor.data_type == DataType::kUint8) numbers.zero -= kHalfRange;
  return numbers;
}

}  // namespace mace
