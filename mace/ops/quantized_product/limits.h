// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The limits of quantized results.

#ifndef MACE_OPS_QUANTIZED_PRODUCT_LIMITS_H_
#define MACE_OPS_QUANTIZED_PRODUCT_LIMITS_H_

#include <cstdint>

#include "mace/kernels/cpu/activation/activation.h"
#include "mace/ops/quantized_product/quantized_product.h"

namespace mace {

// To the nearest, ties to even; beyond 2^51, x may stay as it is. Not every
// Android is known to have the C library's functions for it.
double RoundToEven(double x);

// Whether an activation only limits results: none, RELU or RELUX.
bool IsLimit(activation::Kind kind);

// The limits of results with such an activation; `scale` is that of the
// results.
struct QuantizedLimits {
  int32_t low;
  int32_t high;
};
QuantizedLimits LimitsOf(const IntegerRange &results,
                         const activation::Params &activation,
                         float scale);

}  // namespace mace

#endif  // MACE_OPS_QUANTIZED_PRODUCT_LIMITS_H_
