// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/matmul_integer/matmul_integer_schema.h"
#include "mace/ops/shape_rules/broadcast_shapes.h"

namespace mace {
namespace {

MaceStatus CheckZero(const Tensor *zero,
                     const Tensor &operand,
                     const char *which,
                     int64_t length) {
  if (zero == nullptr) return MaceStatus();
  if (zero->data_type != operand.data_type) {
    return InvalidArgs(which, " is ", DataTypeName(operand.data_type),
                       " but its zero point is ",
                       DataTypeName(zero->data_type));
  }
  const bool one = zero->elements() == 1 && zero->shape.rank() <= 1;
  if (one || zero->shape == Shape{length}) return MaceStatus();
  return Unsupported("the zero point of ", which, " has shape ",
                     zero->shape.ToString(), "; expected one number or [",
                     length, "]");
}

}  // namespace

MaceStatus InferMatMulIntegerShapes(
    const MatMulIntegerAttributes & /*attributes*/, ShapeContext *context) {
  const Tensor &a = *context->input(kMatMulIntegerAInput);
  const Tensor &b = *context->input(kMatMulIntegerBInput);
  Shape output;
  if (!MatMulShape(a.shape, b.shape, false, false, &output)) {
    return InvalidArgs("cannot multiply ", a.shape.ToString(), " by ",
                       b.shape.ToString(),
                       "; expected [..., M, K] and [..., K, N] with batch "
                       "dimensions that broadcast");
  }
  MACE_RETURN_IF_ERROR(CheckZero(context->input(kMatMulIntegerAZeroPointInput),
                                 a, "a", output[output.rank() - 2]));
  MACE_RETURN_IF_ERROR(CheckZero(context->input(kMatMulIntegerBZeroPointInput),
                                 b, "b", output.back()));
  return SetOutput(context, kMatMulIntegerOutputOutput, output,
                   DataType::kInt32);
}

}  // namespace mace
