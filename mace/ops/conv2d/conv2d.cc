// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/conv2d/depthwise_conv2d.h"
#include "mace/ops/conv2d/im2col.h"
#include "mace/ops/shape_rules/shape_rules.h"

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

MaceStatus InferIm2ColShapes(const Im2ColAttributes &attributes,
                             ShapeContext *context) {
  const Tensor &input = *context->input(kIm2ColInputInput);
  const Shape &shape = input.shape;
  if (shape.rank() != 4) {
    return InvalidArgs("expects [N, H, W, C], not ", shape.ToString());
  }
  const Tensor *outside = context->input(kIm2ColOutsideInput);
  if (outside != nullptr) {
    if (outside->data_type != input.data_type ||
        outside->shape.Elements() != 1) {
      return InvalidArgs("outside must be one number of the input's type, not ",
                         outside->shape.ToString());
    }
  }
  MACE_ASSIGN_OR_RETURN(const WindowGeometry geometry,
                        Im2ColWindow(attributes, shape));
  const int64_t taps = attributes.kernels[0] * attributes.kernels[1];
  return SetOutput(context, 0,
                   {shape[0], geometry.axis[0].output, geometry.axis[1].output,
                    taps * shape[3]},
                   input.data_type);
}

}  // namespace mace
