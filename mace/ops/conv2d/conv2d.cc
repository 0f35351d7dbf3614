// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/conv2d/conv2d.h"

#include <string>

#include "mace/ops/shape_rules/filter_constants.h"
#include "mace/ops/shape_rules/fused_activation_rule.h"

namespace mace {

MaceStatus InferConv2DShapes(const Conv2DAttributes &attributes,
                             ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Shape &input = context->input(kConv2DInputInput)->shape;
  const Tensor &constant = *context->input(kConv2DFilterInput);
  const std::string wrong = WrongConvConstants(
      constant, context->input(kConv2DBiasInput), attributes.groups);
  if (!wrong.empty()) return InvalidArgs(wrong);
  const Shape &filter = constant.shape;
  if (input.rank() != 4 || input[3] != filter[3] * attributes.groups) {
    return InvalidArgs("input has shape ", input.ToString(), " but the filter ",
                       filter.ToString(), " with ", attributes.groups,
                       " group(s) takes [N, H, W, ",
                       filter[3] * attributes.groups, "]");
  }
  MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                        Conv2DWindow(attributes, input, filter));
  const Shape output{input[0], window.axis[0].output, window.axis[1].output,
                     filter[0]};
  MACE_RETURN_IF_ERROR(
      SetOutput(context, kConv2DOutputOutput, output, DataType::kFloat32));
  const Tensor *residual = context->input(kConv2DResidualInput);
  if (residual != nullptr && residual->shape != output) {
    return InvalidArgs("residual has shape ", residual->shape.ToString(),
                       " but the output ", output.ToString());
  }
  return MaceStatus();
}

}  // namespace mace
