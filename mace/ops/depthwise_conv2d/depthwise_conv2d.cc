// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/depthwise_conv2d/depthwise_conv2d.h"

#include <string>

#include "mace/ops/shape_rules/filter_constants.h"
#include "mace/ops/shape_rules/fused_activation_rule.h"

namespace mace {

MaceStatus InferDepthwiseConv2dShapes(
    const DepthwiseConv2dAttributes &attributes, ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckFusedActivation(attributes.activation));
  const Shape &input = context->input(kDepthwiseConv2dInputInput)->shape;
  const Tensor &constant = *context->input(kDepthwiseConv2dFilterInput);
  const std::string wrong = WrongDepthwiseConstants(
      constant, context->input(kDepthwiseConv2dBiasInput));
  if (!wrong.empty()) return InvalidArgs(wrong);
  const Shape &filter = constant.shape;
  if (input.rank() != 4 || input[3] != filter[2]) {
    return InvalidArgs("input has shape ", input.ToString(), " but the filter ",
                       filter.ToString(), " takes [N, H, W, ", filter[2], "]");
  }
  MACE_ASSIGN_OR_RETURN(const WindowGeometry window,
                        DepthwiseConv2dWindow(attributes, input, filter));
  return SetOutput(context, kDepthwiseConv2dOutputOutput,
                   {input[0], window.axis[0].output, window.axis[1].output,
                    filter[2] * filter[3]},
                   DataType::kFloat32);
}

}  // namespace mace
