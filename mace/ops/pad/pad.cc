// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mace/ops/pad/pad_schema.h"

namespace mace {
namespace {

// Prevents overflow of sums of dimensions.
constexpr int64_t kMostPadding = INT64_C(1) << 40;

// Of an axis with n elements.
int64_t MostPadding(PadMode mode, int64_t n) {
  switch (mode) {
    case PadMode::REFLECT:
      return std::max<int64_t>(0, n - 1);
    case PadMode::SYMMETRIC:
      return n;
    case PadMode::EDGE:
      return n == 0 ? 0 : kMostPadding;
    case PadMode::CONSTANT:
      break;
  }
  return kMostPadding;
}

}  // namespace

MaceStatus InferPadShapes(const PadAttributes &attributes,
                          ShapeContext *context) {
  const Tensor *input = context->input(kPadInputInput);
  const size_t rank = input->shape.rank();
  if (attributes.pads.size() != 2 * rank) {
    return InvalidArgs("has ", attributes.pads.size(), " pads, not ", 2 * rank,
                       " for an input of shape ", input->shape.ToString());
  }
  Shape shape = input->shape;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t before = attributes.pads[2 * i];
    const int64_t after = attributes.pads[2 * i + 1];
    const int64_t most = MostPadding(attributes.mode, shape[i]);
    if (before > most || after > most) {
      return InvalidArgs("axis ", i, " of ", shape.ToString(),
                         " cannot be padded by ", before, " and ", after,
                         "; at most by ", most, " in this mode");
    }
    shape[i] += before + after;
  }
  return SetOutput(context, 0, shape, input->data_type);
}

}  // namespace mace
