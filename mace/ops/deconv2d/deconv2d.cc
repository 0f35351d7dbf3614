// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/deconv2d/deconv2d_schema.h"
#include "mace/ops/shape_rules/filter_constants.h"
#include "mace/ops/shape_rules/fused_activation_rule.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {

MaceStatus InferDeconv2DShapes(const Deconv2DAttributes &attributes,
                               ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Tensor &filter = *context->input(kDeconv2DFilterInput);
  const std::string wrong = WrongConvConstants(
      filter, context->input(kDeconv2DBiasInput), attributes.groups);
  if (!wrong.empty()) return InvalidArgs(wrong);
  const Shape &input = context->input(kDeconv2DInputInput)->shape;
  if (input.rank() != 4 || input[3] != filter.shape[3] * attributes.groups) {
    return InvalidArgs("input has shape ", input.ToString(), " but the filter ",
                       filter.shape.ToString(), " with ", attributes.groups,
                       " group(s) takes [N, H, W, ",
                       filter.shape[3] * attributes.groups, "]");
  }
  MACE_ASSIGN_OR_RETURN(
      const int64_t height,
      TransposedOutput("height",
                       MakeTransposedAxis(attributes, 0, filter.shape[1]),
                       input[1]));
  MACE_ASSIGN_OR_RETURN(
      const int64_t width,
      TransposedOutput("width",
                       MakeTransposedAxis(attributes, 1, filter.shape[2]),
                       input[2]));
  return SetOutput(context, kDeconv2DOutputOutput,
                   {input[0], height, width, filter.shape[0]},
                   DataType::kFloat32);
}

}  // namespace mace
