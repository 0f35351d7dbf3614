// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/depthwise_deconv2d/depthwise_deconv2d_schema.h"
#include "mace/ops/shape_rules/filter_constants.h"
#include "mace/ops/shape_rules/fused_activation_rule.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {

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
