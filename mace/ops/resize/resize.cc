// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "mace/ops/resize/resize_schema.h"

namespace mace {
namespace {

// Positions are int32, and doubles represent the positions between elements
// exactly.
constexpr int64_t kMostPixels = INT64_C(1) << 24;

MaceStatus CheckAttributes(const ResizeAttributes &attributes,
                           const ShapeContext &context) {
  const AttributeList<int64_t> size = attributes.size;
  const AttributeList<float> scales = attributes.scales;
  const bool has_input = context.input(kResizeSizeInput) != nullptr;
  if (has_input && !size.empty()) {
    return InvalidArgs("has both an input and an attribute size");
  }
  if (!has_input && size.empty() && scales.empty()) {
    return InvalidArgs("has neither a size nor scales");
  }
  if (!size.empty() && size.size() != 2) {
    return InvalidArgs("size has ", size.size(),
                       " values, not 2 (height and width)");
  }
  if (!scales.empty() && scales.size() != 2) {
    return InvalidArgs("scales has ", scales.size(),
                       " values, not 2 (vertical and horizontal)");
  }
  for (const float scale : scales) {
    if (!(scale > 0) || std::isinf(scale)) {
      return InvalidArgs("scales has ", scale,
                         "; scales must be finite and above 0");
    }
  }
  return MaceStatus();
}

MaceStatus WantedSize(const ResizeAttributes &attributes,
                      const ShapeContext &context,
                      const Shape &input,
                      int64_t size[2]) {
  const Tensor *given = context.input(kResizeSizeInput);
  if (given != nullptr) {
    if (given->shape.rank() != 1 || given->shape[0] != 2) {
      return InvalidArgs("the input size has the shape ",
                         given->shape.ToString(), ", not [2]");
    }
    if (given->data == nullptr) {
      return Unsupported("the value of the input size ('", given->name,
                         "') is not known before the run");
    }
  }
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t from = input[axis + 1];
    if (given != nullptr) {
      size[axis] = given->As<int32_t>()[axis];
    } else if (!attributes.size.empty()) {
      size[axis] = attributes.size[axis];
    } else {
      // In float, like frameworks: 10 * 0.7f is 7.
      const float scaled =
          std::floor(static_cast<float>(from) * attributes.scales[axis]);
      size[axis] = static_cast<int64_t>(std::min(scaled, 1e9f));
    }
    const char *name = axis == 0 ? "height" : "width";
    if (size[axis] < 0 || size[axis] > kMostPixels || from > kMostPixels) {
      return InvalidArgs("cannot resize the ", name, " from ", from, " to ",
                         size[axis], "; it must be within [0, ", kMostPixels,
                         "]");
    }
    if (from == 0 && size[axis] > 0) {
      return InvalidArgs("cannot resize the ", name, " from 0 to ", size[axis]);
    }
    if (attributes.scales.empty() || size[axis] == 0) continue;
    const double scaled = static_cast<double>(attributes.scales[axis]) *
                          static_cast<double>(from);
    const auto found = static_cast<double>(size[axis]);
    if (scaled < found - 0.501 || scaled >= found + 1) {
      return InvalidArgs("the ", name, " ", size[axis], " is not ", from,
                         " times the scale ", attributes.scales[axis]);
    }
  }
  return MaceStatus();
}

}  // namespace

MaceStatus InferResizeShapes(const ResizeAttributes &attributes,
                             ShapeContext *context) {
  const Tensor *input = context->input(kResizeInputInput);
  const Shape &shape = input->shape;
  if (shape.rank() != 4) {
    return InvalidArgs("expects [N, H, W, C], not ", shape.ToString());
  }
  if (input->data_type == DataType::kInt32 &&
      attributes.mode != ResizeMode::NEAREST) {
    return Unsupported("mode ",
                       kResizeModeNames[static_cast<int>(attributes.mode)],
                       " does not support int32");
  }
  MACE_RETURN_IF_ERROR(CheckAttributes(attributes, *context));
  int64_t size[2] = {};
  MACE_RETURN_IF_ERROR(WantedSize(attributes, *context, shape, size));
  return SetOutput(context, 0, {shape[0], size[0], size[1], shape[3]},
                   input->data_type);
}

}  // namespace mace
