// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cast/cast_schema.h"

namespace mace {
namespace {

DataType TypeOf(CastTo to) {
  switch (to) {
    case CastTo::FLOAT32:
      return DataType::kFloat32;
    case CastTo::INT32:
      return DataType::kInt32;
    case CastTo::BOOL:
      return DataType::kBool;
    case CastTo::UINT8:
      return DataType::kUint8;
    case CastTo::INT8:
      return DataType::kInt8;
    case CastTo::FLOAT16:
      return DataType::kFloat16;
    case CastTo::BFLOAT16:
      return DataType::kBfloat16;
    case CastTo::INT16:
      return DataType::kInt16;
  }
  return DataType::kUnknown;
}

bool IsHalf(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBfloat16;
}

}  // namespace

MaceStatus InferCastShapes(const CastAttributes &attributes,
                           ShapeContext *context) {
  const Tensor *input = context->input(kCastInputInput);
  const DataType to = TypeOf(attributes.to);
  const DataType from = input->data_type;
  const bool half = IsHalf(to) || IsHalf(from);
  if (half && to != from && to != DataType::kFloat32 &&
      from != DataType::kFloat32) {
    return Unsupported("no conversion from ", DataTypeName(from), " to ",
                       DataTypeName(to), "; convert to float32 first");
  }
  return SetOutput(context, 0, input->shape, to);
}

}  // namespace mace
