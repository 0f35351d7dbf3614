// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/transpose/transpose_schema.h"

namespace mace {

MaceStatus InferTransposeShapes(const TransposeAttributes &attributes,
                                ShapeContext *context) {
  const Tensor *input = context->input(kTransposeInputInput);
  const Shape &shape = input->shape;
  const AttributeList<int64_t> &perm = attributes.perm;
  bool seen[Shape::kMaxRank] = {};
  bool valid = perm.size() == shape.rank();
  for (size_t i = 0; valid && i < perm.size(); ++i) {
    valid = perm[i] < static_cast<int64_t>(shape.rank()) && !seen[perm[i]];
    if (valid) seen[perm[i]] = true;
  }
  if (!valid) {
    return InvalidArgs("perm does not name each of the ", shape.rank(),
                       " axes of ", shape.ToString(), " once");
  }
  Shape output;
  for (const int64_t axis : perm) output.Append(shape[axis]);
  return SetOutput(context, 0, output, input->data_type);
}

}  // namespace mace
