// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/matmul/determinant_schema.h"
#include "mace/ops/matmul/dynamic_quantize_matmul_schema.h"
#include "mace/ops/matmul/matmul_integer_schema.h"
#include "mace/ops/matmul/matmul_schema.h"
#include "mace/ops/shape_rules/shape_rules.h"

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

namespace {

// `values` may be null.
MaceStatus CheckColumns(const Tensor *values,
                        const char *which,
                        int64_t columns) {
  if (values == nullptr) return MaceStatus();
  const bool one = values->elements() == 1 && values->shape.rank() <= 1;
  if (one || values->shape == Shape{columns}) return MaceStatus();
  return InvalidArgs("the ", which, " of the weights have shape ",
                     values->shape.ToString(), "; expected one number or [",
                     columns, "]");
}

}  // namespace

MaceStatus InferDynamicQuantizeMatMulShapes(
    const DynamicQuantizeMatMulAttributes &attributes, ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Shape &input = context->input(kDynamicQuantizeMatMulInputInput)->shape;
  const Tensor &weights = *context->input(kDynamicQuantizeMatMulWeightsInput);
  const Tensor *bias = context->input(kDynamicQuantizeMatMulBiasInput);
  if (weights.shape.rank() != 2 || weights.shape.Elements() == 0) {
    return InvalidArgs("weights have shape ", weights.shape.ToString(),
                       "; expected [K, N], none of them 0");
  }
  const int64_t columns = weights.shape[1];
  MACE_RETURN_IF_ERROR(
      CheckColumns(context->input(kDynamicQuantizeMatMulWeightScalesInput),
                   "scales", columns));
  MACE_RETURN_IF_ERROR(
      CheckColumns(context->input(kDynamicQuantizeMatMulWeightZeroPointsInput),
                   "zero points", columns));
  if (bias != nullptr && bias->shape != Shape{columns}) {
    return InvalidArgs("bias has shape ", bias->shape.ToString(),
                       "; expected [", columns, "]");
  }
  if (input.rank() == 0 || input.back() != weights.shape[0]) {
    return InvalidArgs("input has shape ", input.ToString(),
                       " but the weights ", weights.shape.ToString(),
                       " take [..., ", weights.shape[0], "]");
  }
  Shape output = input;
  output[output.rank() - 1] = columns;
  const Tensor *residual = context->input(kDynamicQuantizeMatMulResidualInput);
  if (residual != nullptr && residual->shape != output) {
    return InvalidArgs("residual has shape ", residual->shape.ToString(),
                       " but the output ", output.ToString());
  }
  return SetOutput(context, kDynamicQuantizeMatMulOutputOutput, output,
                   DataType::kFloat32);
}

MaceStatus InferDeterminantShapes(const DeterminantAttributes & /*attributes*/,
                                  ShapeContext *context) {
  const Tensor *input = context->input(kDeterminantInputInput);
  const Shape &shape = input->shape;
  const size_t rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2]) {
    return InvalidArgs("an input of shape ", shape.ToString(),
                       " has no square matrices");
  }
  return SetOutput(context, 0, Shape(shape.begin(), rank - 2),
                   input->data_type);
}

}  // namespace mace
