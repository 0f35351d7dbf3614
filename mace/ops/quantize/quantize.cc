// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "mace/core/base/status.h"
#include "mace/core/model/tensor.h"
#include "mace/ops/quantize/dequantize_schema.h"
#include "mace/ops/quantize/lookup_table_schema.h"
#include "mace/ops/quantize/quantize_schema.h"

namespace mace {
namespace {

bool IsOne(const Shape &shape) {
  return shape.rank() <= 1 && shape.Elements() == 1;
}

// The error in the scale or the zero point of a tensor of that shape; empty if
// there is none. `zero` may be null; otherwise its type is `type`.
std::string QuantizationProblem(const Shape &shape,
                                const Tensor &scale,
                                const Tensor *zero,
                                DataType type,
                                int64_t axis) {
  if (zero != nullptr && zero->data_type != type) {
    return MakeString("the zero point is ", DataTypeName(zero->data_type),
                      "; expected ", DataTypeName(type));
  }
  if (zero != nullptr && zero->shape.Elements() != scale.shape.Elements()) {
    return MakeString("the scale has shape ", scale.shape.ToString(),
                      " but the zero point ", zero->shape.ToString());
  }
  if (IsOne(scale.shape)) return std::string();
  const int64_t at = shape.NormalizeAxis(axis);
  if (at < 0) {
    return MakeString("axis ", axis, " is out of range for an input of shape ",
                      shape.ToString());
  }
  const int64_t length = shape[static_cast<size_t>(at)];
  if (scale.shape != Shape{length}) {
    return MakeString("the scale has shape ", scale.shape.ToString(),
                      "; expected one number or [", length, "]");
  }
  return std::string();
}

DataType TypeOf(QuantizeTo to) {
  switch (to) {
    case QuantizeTo::UINT8:
      return DataType::kUint8;
    case QuantizeTo::INT8:
      return DataType::kInt8;
    case QuantizeTo::INT16:
      break;
  }
  return DataType::kInt16;
}

}  // namespace

MaceStatus InferQuantizeShapes(const QuantizeAttributes &attributes,
                               ShapeContext *context) {
  const Shape &shape = context->input(kQuantizeInputInput)->shape;
  const Tensor &scale = *context->input(kQuantizeScaleInput);
  const DataType type = TypeOf(attributes.to);
  const std::string problem =
      QuantizationProblem(shape, scale, context->input(kQuantizeZeroPointInput),
                          type, attributes.axis);
  if (!problem.empty()) return InvalidArgs(problem);
  return SetOutput(context, 0, shape, type);
}

MaceStatus InferDequantizeShapes(const DequantizeAttributes &attributes,
                                 ShapeContext *context) {
  const Tensor &input = *context->input(kDequantizeInputInput);
  const Tensor &scale = *context->input(kDequantizeScaleInput);
  const std::string problem = QuantizationProblem(
      input.shape, scale, context->input(kDequantizeZeroPointInput),
      input.data_type, attributes.axis);
  if (!problem.empty()) return InvalidArgs(problem);
  return SetOutput(context, 0, input.shape, DataType::kFloat32);
}

namespace {

constexpr int64_t kEntries = 256;

}  // namespace

MaceStatus InferLookupTableShapes(const LookupTableAttributes & /*attributes*/,
                                  ShapeContext *context) {
  const Shape &shape = context->input(kLookupTableInputInput)->shape;
  const Tensor &table = *context->input(kLookupTableTableInput);
  const size_t rank = table.shape.rank();
  if (rank < 1 || rank > 2 || table.shape.back() != kEntries) {
    return InvalidArgs("the table is ", table.shape.ToString(),
                       "; expected [256] or [C, 256]");
  }
  if (rank == 2 && (shape.rank() == 0 || shape.back() != table.shape[0])) {
    return InvalidArgs("there are tables for ", table.shape[0],
                       " channels, but the input is ", shape.ToString());
  }
  return SetOutput(context, 0, shape, table.data_type);
}

}  // namespace mace
