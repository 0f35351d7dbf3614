// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MODEL_QUANTIZATION_H_
#define MACE_CORE_MODEL_QUANTIZATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/base/data_type.h"
#include "mace/core/base/shape.h"

namespace mace {

// What the integers of a value stand for: q is scale * (q - zero point). Stated
// by the model file (mace.proto, Quantization), never made at load.
struct Quantization {
  // One, or one for each index of `axis`. None: the value is not quantized.
  std::vector<float> scales;
  // As many as scales; none if all are 0.
  std::vector<int64_t> zero_points;
  // The axis of the value in the model's layout; 0 for one scale.
  int64_t axis = 0;
  // Of an output of a quantized operator: the type of its integers.
  DataType data_type = DataType::kUnknown;

  bool quantized() const {
    return !scales.empty() || !zero_points.empty() || axis != 0;
  }
  bool per_tensor() const { return scales.size() == 1; }
  bool operator==(const Quantization &other) const {
    return scales == other.scales && zero_points == other.zero_points &&
           axis == other.axis;
  }
  bool operator!=(const Quantization &other) const { return !(*this == other); }

  // "scale 0.5 zero 3", "scales 0.5, 2, ... (64) of axis 3".
  std::string ToString() const;

  // What keeps a value of that type from being quantized so, whatever its
  // shape; empty if nothing does, or it is not quantized.
  std::string ProblemWith(DataType type) const;
  // Likewise a value of that shape, in which -1 is a dimension not known.
  std::string ProblemWith(const Shape &shape) const;
};

}  // namespace mace

#endif  // MACE_CORE_MODEL_QUANTIZATION_H_
