// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/quantized_product/limits.h"

#include <algorithm>

namespace mace {

double RoundToEven(double x) {
  // A double of this size has no fraction.
  constexpr double kWhole = 0x1.8p52;
  return (x + kWhole) - kWhole;
}

bool IsLimit(activation::Kind kind) {
  return kind == activation::Kind::kNone || kind == activation::Kind::kRelu ||
         kind == activation::Kind::kRelux;
}

QuantizedLimits LimitsOf(const IntegerRange &results,
                         const activation::Params &activation,
                         float scale) {
  QuantizedLimits limits = {results.least, results.most};
  if (activation.kind != activation::Kind::kNone) {
    limits.low = std::max(limits.low, results.zero);
  }
  if (activation.kind == activation::Kind::kRelux) {
    const double steps = RoundToEven(activation.limit / scale);
    limits.high = static_cast<int32_t>(
        std::clamp<double>(steps + results.zero, limits.low, limits.high));
  }
  return limits;
}

}  // namespace mace
