// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/eltwise/eltwise.h"
#include "mace/ops/eltwise/bitwise_schema.h"
#include "mace/ops/eltwise/where_schema.h"
#include "mace/ops/shape_rules/shape_rules.h"

namespace mace {

namespace {

bool TakesInt32(EltwiseMode mode) {
  switch (mode) {
    case EltwiseMode::NEG:
    case EltwiseMode::ABS:
    case EltwiseMode::SQUARE:
    case EltwiseMode::SIGN:
    case EltwiseMode::FLOOR:
    case EltwiseMode::CEIL:
    case EltwiseMode::ROUND:
      return true;
    default:
      return !IsUnary(mode);
  }
}

}  // namespace

MaceStatus InferEltwiseShapes(const EltwiseAttributes &attributes,
                              ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const EltwiseMode mode = attributes.mode;
  const char *mode_name = kEltwiseModeNames[static_cast<int>(mode)];
  const Tensor *a = context->input(kEltwiseAInput);
  const Tensor *b = context->input(kEltwiseBInput);
  if (IsUnary(mode) == (b != nullptr)) {
    return InvalidArgs("mode ", mode_name, " takes ",
                       IsUnary(mode) ? "one input" : "two inputs");
  }
  if (b == nullptr) b = a;
  const DataType type = a->data_type;
  const bool quantized = type == DataType::kUint8 || type == DataType::kInt8;
  if (b->data_type != type && !quantized) {
    return InvalidArgs("a is ", DataTypeName(a->data_type), " but b is ",
                       DataTypeName(b->data_type));
  }
  const bool floats = type != DataType::kInt32;
  if (attributes.activation != Activation::NONE &&
      (!floats || IsCompare(mode))) {
    return InvalidArgs("an activation can only be applied to float32 results");
  }
  if (!floats && !TakesInt32(mode)) {
    return Unsupported("mode ", mode_name, " does not support int32");
  }
  Shape shape;
  if (!BroadcastShapes(a->shape, b->shape, &shape)) {
    return InvalidArgs("the shapes ", a->shape.ToString(), " and ",
                       b->shape.ToString(), " do not broadcast");
  }
  return SetOutput(context, 0, shape, IsCompare(mode) ? DataType::kBool : type);
}

MaceStatus InferBitwiseShapes(const BitwiseAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *a = context->input(kBitwiseAInput);
  const Tensor *b = context->input(kBitwiseBInput);
  const bool unary = attributes.mode == BitwiseMode::NOT;
  if (unary == (b != nullptr)) {
    return InvalidArgs("mode ",
                       kBitwiseModeNames[static_cast<int>(attributes.mode)],
                       " takes ", unary ? "one input" : "two inputs");
  }
  if (b == nullptr) return SetOutput(context, 0, a->shape, a->data_type);
  Shape shape;
  if (!BroadcastShapes(a->shape, b->shape, &shape)) {
    return InvalidArgs("the shapes ", a->shape.ToString(), " and ",
                       b->shape.ToString(), " do not broadcast");
  }
  return SetOutput(context, 0, shape, a->data_type);
}

MaceStatus InferWhereShapes(const WhereAttributes & /*attributes*/,
                            ShapeContext *context) {
  const Shape &condition = context->input(kWhereConditionInput)->shape;
  const Tensor &a = *context->input(kWhereAInput);
  const Tensor &b = *context->input(kWhereBInput);
  if (a.data_type != b.data_type) {
    return InvalidArgs("a is ", DataTypeName(a.data_type), " but b is ",
                       DataTypeName(b.data_type));
  }
  Shape choices;
  Shape output;
  if (!BroadcastShapes(a.shape, b.shape, &choices) ||
      !BroadcastShapes(condition, choices, &output)) {
    return InvalidArgs("the shapes ", condition.ToString(), ", ",
                       a.shape.ToString(), " and ", b.shape.ToString(),
                       " do not broadcast");
  }
  return SetOutput(context, 0, output, a.data_type);
}

}  // namespace mace
