// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/scatter/scatter_schema.h"

namespace mace {
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

}  // namespace mace
