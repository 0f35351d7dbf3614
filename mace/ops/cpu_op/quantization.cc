// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/quantization.h"

namespace mace {
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

void QuantizationLoop::Widen(const Tensor *zero,
                             int32_t shift,
                             int32_t *to) const {
  for (int64_t i = 0; i < length_; ++i) {
    if (zero == nullptr) {
      to[i] = 0;
    } else if (zero->data_type == DataType::kUint8) {
      to[i] = zero->As<uint8_t>()[i];
    } else if (zero->data_type == DataType::kInt8) {
      to[i] = int32_t{zero->As<int8_t>()[i]};
    } else if (zero->data_type == DataType::kInt16) {
      to[i] = int32_t{zero->As<int16_t>()[i]};
    } else {
      to[i] = zero->As<int32_t>()[i];
    }
    to[i] += shift;
  }
}

}  // namespace mace
