// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "mace/ops/shape/range_schema.h"
#include "mace/ops/shape/shape_schema.h"
#include "mace/ops/shape/size_expression_schema.h"

namespace mace {

MaceStatus InferShapeShapes(const ShapeAttributes & /*attributes*/,
                            ShapeContext *context) {
  const Shape &shape = context->input(kShapeInputInput)->shape;
  for (const int64_t dim : shape) {
    if (dim > INT32_MAX) {
      return InvalidArgs("dimension ", dim,
                         " of the input does not fit into "
                         "the int32 output");
    }
  }
  return SetOutput(context, 0, {static_cast<int64_t>(shape.rank())},
                   DataType::kInt32);
}

MaceStatus InferSizeExpressionShapes(const SizeExpressionAttributes &attributes,
                                     ShapeContext *context) {
  for (size_t i = 0; i < context->input_count(); ++i) {
    const Tensor *input = context->input(i);
    if (input->elements() != 1) {
      return InvalidArgs("input ", i, " has the shape ",
                         input->shape.ToString(), "; expected one element");
    }
  }
  return SetOutput(context, 0, Shape(),
                   attributes.whole ? DataType::kInt32 : DataType::kFloat32);
}

namespace {

template <typename T>
T Number(const ShapeContext &context, size_t port) {
  return *context.input(port)->As<T>();
}

// The quotient in double is exact enough for integers: if it is whole, no
// rounding takes place, and otherwise it is at least 2^-31 from a whole number.
double Count(double distance, double delta) {
  return std::ceil(distance / delta);
}

}  // namespace

MaceStatus InferRangeShapes(const RangeAttributes & /*attributes*/,
                            ShapeContext *context) {
  const DataType type = context->input(kRangeStartInput)->data_type;
  for (const size_t port :
       {kRangeStartInput, kRangeLimitInput, kRangeDeltaInput}) {
    const Tensor *input = context->input(port);
    if (input->data_type != type || input->elements() != 1) {
      return InvalidArgs(
          "start, limit and delta must be one element each, of "
          "the same type; one has the shape ",
          input->shape.ToString());
    }
    if (input->data == nullptr) {
      return Unsupported("the value of the input '", input->name,
                         "' is not known before the run");
    }
  }
  double delta;
  double count;
  if (type == DataType::kInt32) {
    delta = Number<int32_t>(*context, kRangeDeltaInput);
    const int64_t distance =
        int64_t{Number<int32_t>(*context, kRangeLimitInput)} -
        Number<int32_t>(*context, kRangeStartInput);
    count = Count(static_cast<double>(distance), delta);
  } else {
    delta = double{Number<float>(*context, kRangeDeltaInput)};
    // The difference of floats is one, too.
    const float distance = Number<float>(*context, kRangeLimitInput) -
                           Number<float>(*context, kRangeStartInput);
    count = Count(double{distance}, delta);
  }
  if (delta == 0) return InvalidArgs("delta is 0");
  if (!(std::fabs(count) < 0x1p31)) {
    return InvalidArgs("has too many elements, or a number that is NaN");
  }
  const auto length = static_cast<int64_t>(std::max(count, 0.0));
  return SetOutput(context, 0, {length}, type);
}

}  // namespace mace
