// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/reshape/expand_dims_schema.h"
#include "mace/ops/reshape/identity_schema.h"
#include "mace/ops/reshape/reshape_schema.h"
#include "mace/ops/reshape/squeeze_schema.h"

namespace mace {

namespace {

MaceStatus TooMany(size_t rank) {
  return InvalidArgs("the new shape has ", rank, " dimensions; at most ",
                     Shape::kMaxRank, " are supported");
}

// The shape that is asked for, whose dimensions may be 0 or -1.
MaceStatus WantedShape(const ReshapeAttributes &attributes,
                       const ShapeContext &context,
                       Shape *wanted) {
  const Tensor *given = context.input(kReshapeShapeInput);
  if (given == nullptr) {
    if (attributes.shape.size() > Shape::kMaxRank) {
      return TooMany(attributes.shape.size());
    }
    *wanted = Shape(attributes.shape.data(), attributes.shape.size());
    return MaceStatus();
  }
  if (!attributes.shape.empty()) {
    return InvalidArgs("has both an input and an attribute shape");
  }
  if (given->shape.rank() != 1) {
    return InvalidArgs("the input shape has the shape ",
                       given->shape.ToString(), ", not one dimension");
  }
  const auto rank = static_cast<size_t>(given->shape[0]);
  if (rank > 0 && given->data == nullptr) {
    return Unsupported("the value of the input shape ('", given->name,
                       "') is not known before the run");
  }
  if (rank > Shape::kMaxRank) return TooMany(rank);
  for (size_t i = 0; i < rank; ++i) wanted->Append(given->As<int32_t>()[i]);
  return MaceStatus();
}

MaceStatus Resolve(const Shape &from,
                   const Shape &wanted,
                   bool allow_zero,
                   Shape *to) {
  int64_t inferred = -1;  // position of -1
  for (size_t i = 0; i < wanted.rank(); ++i) {
    int64_t dim = wanted[i];
    if (dim == 0 && !allow_zero) {
      if (i >= from.rank()) {
        return InvalidArgs("dimension ", i,
                           " of the new shape is 0 (as in the input), but the "
                           "input has the shape ",
                           from.ToString());
      }
      dim = from[i];
    }
    if (dim == -1) {
      if (inferred >= 0) {
        return InvalidArgs("the new shape has more than one -1");
      }
      inferred = static_cast<int64_t>(i);
      dim = 1;
    } else if (dim < 0) {
      return InvalidArgs("dimension ", i, " of the new shape is ", dim);
    }
    to->Append(dim);
  }
  const int64_t elements = from.Elements();
  const int64_t known = to->CheckedElements();
  if (inferred >= 0 && known > 0 && elements % known == 0) {
    (*to)[inferred] = elements / known;
  } else if (inferred >= 0 || known != elements) {
    return InvalidArgs("cannot reshape ", from.ToString(), " (", elements,
                       " elements) to ", wanted.ToString());
  }
  return MaceStatus();
}

}  // namespace

MaceStatus InferReshapeShapes(const ReshapeAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *input = context->input(kReshapeInputInput);
  Shape wanted;
  MACE_RETURN_IF_ERROR(WantedShape(attributes, *context, &wanted));
  Shape shape;
  MACE_RETURN_IF_ERROR(
      Resolve(input->shape, wanted, attributes.allow_zero, &shape));
  return SetOutput(context, 0, shape, input->data_type);
}

MaceStatus InferSqueezeShapes(const SqueezeAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *input = context->input(kSqueezeInputInput);
  Shape shape;
  bool drop[Shape::kMaxRank] = {};
  for (const int64_t given : attributes.axes) {
    const int64_t axis = input->shape.NormalizeAxis(given);
    if (axis < 0 || input->shape[axis] != 1) {
      return InvalidArgs(
          "axis ", given,
          " cannot be removed: it is not an axis of length 1 of ",
          input->shape.ToString());
    }
    drop[axis] = true;
  }
  for (size_t i = 0; i < input->shape.rank(); ++i) {
    const bool all = attributes.axes.empty() && input->shape[i] == 1;
    if (!drop[i] && !all) shape.Append(input->shape[i]);
  }
  return SetOutput(context, 0, shape, input->data_type);
}

MaceStatus InferExpandDimsShapes(const ExpandDimsAttributes &attributes,
                                 ShapeContext *context) {
  const Tensor *input = context->input(kExpandDimsInputInput);
  Shape shape;
  const size_t rank = input->shape.rank() + attributes.axes.size();
  if (rank > Shape::kMaxRank) {
    return InvalidArgs("the output would have ", rank, " dimensions; at most ",
                       Shape::kMaxRank, " are supported");
  }
  bool inserted[Shape::kMaxRank] = {};
  const auto signed_rank = static_cast<int64_t>(rank);
  for (const int64_t given : attributes.axes) {
    const bool within = given >= -signed_rank && given < signed_rank;
    const int64_t axis = given < 0 ? given + signed_rank : given;
    if (!within || inserted[axis]) {
      return InvalidArgs("axis ", given, " is ",
                         within ? "named twice" : "out of range",
                         " for an output of ", rank, " dimensions");
    }
    inserted[axis] = true;
  }
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    shape.Append(inserted[i] ? 1 : input->shape[next++]);
  }
  return SetOutput(context, 0, shape, input->data_type);
}

MaceStatus InferIdentityShapes(const IdentityAttributes & /*attributes*/,
                               ShapeContext *context) {
  const Tensor *input = context->input(kIdentityInputInput);
  return SetOutput(context, 0, input->shape, input->data_type);
}

}  // namespace mace
