// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/matmul/matmul_schema.h"
#include "mace/ops/shape_rules/broadcast_shapes.h"

namespace mace {

MaceStatus InferMatMulShapes(const MatMulAttributes &attributes,
                             ShapeContext *context) {
  const Shape &a = context->input(kMatMulAInput)->shape;
  const Shape &b = context->input(kMatMulBInput)->shape;
  Shape output;
  if (!MatMulShape(a, b, attributes.transpose_a, attributes.transpose_b,
                   &output)) {
    return InvalidArgs(
        "cannot multiply ", a.ToString(),
        attributes.transpose_a ? " transposed" : "", " by ", b.ToString(),
        attributes.transpose_b ? " transposed" : "",
        "; expected [..., M, K] and [..., K, N] with batch dimensions that "
        "broadcast");
  }
  return SetOutput(context, kMatMulOutputOutput, output, DataType::kFloat32);
}

}  // namespace mace
