// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_PRECISION_H_
#define MACE_CORE_BASE_PRECISION_H_

#include <cstdint>
#include <string>

#include "mace/core/base/data_type.h"
#include "mace/core/base/status.h"

namespace mace {

// The type in which a device stores and computes the values that the model
// calls float, as `data_type` of the deployment file asks. The type in which
// weights are stored is separate: each constant has its own.
enum class Precision : uint8_t { kFloat32, kFloat16, kBfloat16 };

// The element type of activations in that precision.
constexpr DataType StorageType(Precision precision) {
  switch (precision) {
    case Precision::kFloat16:
      return DataType::kFloat16;
    case Precision::kBfloat16:
      return DataType::kBfloat16;
    case Precision::kFloat32:
      break;
  }
  return DataType::kFloat32;
}

// Parses a `data_type` as the model file spells it, <weights>_<arithmetic>;
// empty means fp32_fp32. MACE_UNSUPPORTED, naming the known values, for any
// other text.
Result<Precision> ParsePrecision(const std::string &data_type);

// Whether such a data_type has fp16 weights and float32 arithmetic.
bool HasHalfStorage(const std::string &data_type);

}  // namespace mace

#endif  // MACE_CORE_BASE_PRECISION_H_
