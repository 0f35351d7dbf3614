// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/gpu_quantization.h"

namespace mace {

void AddQuantization(const OpenclPlanContext &context,
                     const QuantizationPorts &ports,
                     int64_t axis,
                     Launch *launch) {
  const Shape &shape = context.input(ports.input)->shape;
  const int64_t length = context.input(ports.scale)->elements();
  launch->Input("scale", ports.scale);
  if (context.input(ports.zero) != nullptr) {
    launch->Define("HAS_ZERO").Input("zero", ports.zero);
  }
  int64_t inner = 1;
  if (length > 1) {
    const auto at = static_cast<size_t>(shape.NormalizeAxis(axis));
    inner = shape.Elements(at + 1, shape.rank());
  }
  launch->Int(length).Int(inner);
}

}  // namespace mace
