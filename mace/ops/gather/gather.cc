// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/gather/gather_elements_schema.h"
#include "mace/ops/gather/gather_nd_schema.h"
#include "mace/ops/gather/gather_schema.h"
#include "mace/ops/gather/one_hot_schema.h"
#include "mace/ops/gather/scatter_schema.h"

namespace mace {

MaceStatus InferGatherShapes(const GatherAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *params = context->input(kGatherParamsInput);
  const Tensor *indices = context->input(kGatherIndicesInput);
  const int64_t axis = params->shape.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for params of shape ",
                       params->shape.ToString());
  }
  const size_t rank = params->shape.rank() - 1 + indices->shape.rank();
  if (rank > Shape::kMaxRank) {
    return InvalidArgs("the output would have ", rank, " dimensions; at most ",
                       Shape::kMaxRank, " are supported");
  }
  Shape shape(params->shape.begin(), static_cast<size_t>(axis));
  for (const int64_t dim : indices->shape) shape.Append(dim);
  for (size_t i = static_cast<size_t>(axis) + 1; i < params->shape.rank();
       ++i) {
    shape.Append(params->shape[i]);
  }
  return SetOutput(context, 0, shape, params->data_type);
}

MaceStatus InferGatherElementsShapes(const GatherElementsAttributes &attributes,
                                     ShapeContext *context) {
  const Shape &params = context->input(kGatherElementsParamsInput)->shape;
  const Shape &indices = context->input(kGatherElementsIndicesInput)->shape;
  const int64_t axis = params.NormalizeAxis(attributes.axis);
  if (axis < 0) {
    return InvalidArgs("axis ", attributes.axis,
                       " is out of range for params of shape ",
                       params.ToString());
  }
  bool fits = indices.rank() == params.rank();
  for (size_t i = 0; fits && i < params.rank(); ++i) {
    fits = static_cast<int64_t>(i) == axis || indices[i] <= params[i];
  }
  if (!fits) {
    return InvalidArgs("indices of shape ", indices.ToString(),
                       " do not fit params of shape ", params.ToString(),
                       ": they must have the same rank, and no dimension but ",
                       axis, " may be longer");
  }
  return SetOutput(context, 0, indices,
                   context->input(kGatherElementsParamsInput)->data_type);
}

MaceStatus InferGatherNdShapes(const GatherNdAttributes &attributes,
                               ShapeContext *context) {
  const Tensor *params = context->input(kGatherNdParamsInput);
  const Shape &from = params->shape;
  const Shape &indices = context->input(kGatherNdIndicesInput)->shape;
  const int64_t batch = attributes.batch_dims;
  const auto rank = static_cast<int64_t>(from.rank());
  const auto index_rank = static_cast<int64_t>(indices.rank());
  bool fits =
      batch < index_rank && batch <= rank && indices.back() <= rank - batch;
  for (int64_t i = 0; fits && i < batch; ++i) {
    const auto axis = static_cast<size_t>(i);
    fits = from[axis] == indices[axis];
  }
  if (!fits) {
    return InvalidArgs("indices of shape ", indices.ToString(),
                       " do not fit params of shape ", from.ToString(),
                       " with ", batch, " batch dimensions");
  }
  const auto first = static_cast<size_t>(batch + indices.back());
  const size_t out_rank = indices.rank() - 1 + from.rank() - first;
  if (out_rank > Shape::kMaxRank) {
    return InvalidArgs("the output would have ", out_rank,
                       " dimensions; at most ", Shape::kMaxRank,
                       " are supported");
  }
  Shape shape(indices.begin(), indices.rank() - 1);
  for (size_t i = first; i < from.rank(); ++i) shape.Append(from[i]);
  return SetOutput(context, 0, shape, params->data_type);
}

namespace {

MaceStatus CheckSlices(const Shape &data,
                       const Shape &indices,
                       const Shape &updates) {
  const auto rank = static_cast<int64_t>(data.rank());
  if (indices.rank() == 0 || indices.back() > rank) {
    return InvalidArgs("indices of shape ", indices.ToString(),
                       " do not fit data of shape ", data.ToString());
  }
  const size_t lead = indices.rank() - 1;
  const auto axes = static_cast<size_t>(indices.back());
  bool fits = updates.rank() == lead + data.rank() - axes;
  for (size_t i = 0; fits && i < updates.rank(); ++i) {
    fits = updates[i] == (i < lead ? indices[i] : data[axes + i - lead]);
  }
  if (fits) return MaceStatus();
  return InvalidArgs("updates of shape ", updates.ToString(),
                     " do not fit indices of shape ", indices.ToString(),
                     " and data of shape ", data.ToString());
}

MaceStatus CheckElements(const Shape &data,
                         const Shape &indices,
                         const Shape &updates,
                         int64_t given) {
  const int64_t axis = data.NormalizeAxis(given);
  if (axis < 0) {
    return InvalidArgs("axis ", given, " is out of range for data of shape ",
                       data.ToString());
  }
  bool fits = indices.rank() == data.rank();
  for (size_t i = 0; fits && i < data.rank(); ++i) {
    fits = static_cast<int64_t>(i) == axis || indices[i] <= data[i];
  }
  if (!fits) {
    return InvalidArgs("indices of shape ", indices.ToString(),
                       " do not fit data of shape ", data.ToString(),
                       ": they must have the same rank, and no dimension but ",
                       axis, " may be longer");
  }
  if (updates == indices) return MaceStatus();
  return InvalidArgs("updates of shape ", updates.ToString(),
                     " do not have the shape ", indices.ToString(),
                     " of the indices");
}

}  // namespace

MaceStatus InferScatterShapes(const ScatterAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *data = context->input(kScatterDataInput);
  const Tensor *updates = context->input(kScatterUpdatesInput);
  const Shape &indices = context->input(kScatterIndicesInput)->shape;
  if (data->data_type != updates->data_type) {
    return InvalidArgs("data and updates have different types");
  }
  if (attributes.mode != ScatterMode::SET &&
      DataTypeSize(data->data_type) == 1) {
    return Unsupported("mode ",
                       kScatterModeNames[static_cast<int>(attributes.mode)],
                       " of 8-bit integers; only SET takes them");
  }
  MACE_RETURN_IF_ERROR(attributes.form == ScatterForm::SLICES
                           ? CheckSlices(data->shape, indices, updates->shape)
                           : CheckElements(data->shape, indices, updates->shape,
                                           attributes.axis));
  return SetOutput(context, 0, data->shape, data->data_type);
}

MaceStatus InferOneHotShapes(const OneHotAttributes &attributes,
                             ShapeContext *context) {
  const Tensor &indices = *context->input(kOneHotIndicesInput);
  const Tensor &values = *context->input(kOneHotValuesInput);
  if (values.shape != Shape{2}) {
    return InvalidArgs("values has shape ", values.shape.ToString(),
                       "; expected [2]: the value elsewhere, then the value at "
                       "the index");
  }
  const auto rank = static_cast<int64_t>(indices.shape.rank());
  if (rank + 1 > static_cast<int64_t>(Shape::kMaxRank)) {
    return InvalidArgs("the output would have ", rank + 1,
                       " dimensions; at most ", Shape::kMaxRank,
                       " are supported");
  }
  const int64_t axis = attributes.axis;
  if (axis < -rank - 1 || axis > rank) {
    return InvalidArgs("axis ", axis, " is not within [", -rank - 1, ", ", rank,
                       "] for indices of shape ", indices.shape.ToString());
  }
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank + 1 : axis);
  Shape output(indices.shape.begin(), at);
  output.Append(attributes.depth);
  for (size_t i = at; i < indices.shape.rank(); ++i) {
    output.Append(indices.shape[i]);
  }
  return SetOutput(context, 0, output, values.data_type);
}

}  // namespace mace
