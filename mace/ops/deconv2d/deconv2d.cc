// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/deconv2d/deconv2d_schema.h"
#include "mace/ops/deconv2d/depthwise_deconv2d_schema.h"
#include "mace/ops/shape_rules/shape_rules.h"
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

MaceStatus InferDepthwiseDeconv2dShapes(
    const DepthwiseDeconv2dAttributes &attributes, ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Tensor &filter = *context->input(kDepthwiseDeconv2dFilterInput);
  const std::string wrong = WrongDepthwiseConstants(
      filter, context->input(kDepthwiseDeconv2dBiasInput));
  if (!wrong.empty()) return InvalidArgs(wrong);
  const Shape &input = context->input(kDepthwiseDeconv2dInputInput)->shape;
  if (input.rank() != 4 || input[3] != filter.shape[2]) {
    return InvalidArgs("input has shape ", input.ToString(), " but the filter ",
                       filter.shape.ToString(), " takes [N, H, W, ",
                       filter.shape[2], "]");
  }
  MACE_ASSIGN_OR_RETURN(
      const int64_t height,
      TransposedOutput("height",
                       MakeTransposedAxis(attributes, 0, filter.shape[0]),
                       input[1]));
  MACE_ASSIGN_OR_RETURN(
      const int64_t width,
      TransposedOutput("width",
                       MakeTransposedAxis(attributes, 1, filter.shape[1]),
                       input[2]));
  return SetOutput(context, kDepthwiseDeconv2dOutputOutput,
                   {input[0], height, width, filter.shape[2] * filter.shape[3]},
                   DataType::kFloat32);
}

}  // namespace mace
