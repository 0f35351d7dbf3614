// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/random/random_schema.h"

namespace mace {
namespace {

MaceStatus GivenShape(const Tensor &given, Shape *shape) {
  if (given.shape.rank() != 1) {
    return InvalidArgs("shape has the shape ", given.shape.ToString());
  }
  if (given.data == nullptr) {
    return Unsupported("the value of the input shape ('", given.name,
                       "') is not known before the run");
  }
  const int64_t rank = given.shape[0];
  if (rank > static_cast<int64_t>(Shape::kMaxRank)) {
    return InvalidArgs("the shape has ", rank, " dimensions; at most ",
                       Shape::kMaxRank, " are possible");
  }
  *shape = Shape();
  for (int64_t i = 0; i < rank; ++i) {
    const int32_t dim = given.As<int32_t>()[i];
    if (dim < 0) return InvalidArgs("dimension ", i, " of the shape is ", dim);
    shape->Append(dim);
  }
  return MaceStatus();
}

}  // namespace

MaceStatus InferRandomShapes(const RandomAttributes & /*attributes*/,
                             ShapeContext *context) {
  const Tensor *seed = context->input(kRandomSeedInput);
  if (seed != nullptr && (seed->shape.rank() != 1 || seed->shape[0] != 2)) {
    return InvalidArgs("seed has the shape ", seed->shape.ToString(),
                       ", not [2]");
  }
  Shape shape = context->input(kRandomInputInput)->shape;
  if (const Tensor *given = context->input(kRandomShapeInput);
      given != nullptr) {
    MACE_RETURN_IF_ERROR(GivenShape(*given, &shape));
  }
  return SetOutput(context, 0, shape, DataType::kFloat32);
}

}  // namespace mace
