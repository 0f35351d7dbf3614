// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/pooling/pooling.h"
#include "mace/ops/pooling/volume_pooling.h"

namespace mace {

MaceStatus InferPoolingShapes(const PoolingAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *input = context->input(kPoolingInputInput);
  const Shape &shape = input->shape;
  if (shape.rank() != 4) {
    return InvalidArgs("expects [N, H, W, C], not ", shape.ToString());
  }
  MACE_ASSIGN_OR_RETURN(const WindowGeometry geometry,
                        PoolingWindow(attributes, shape));
  return SetOutput(
      context, 0,
      {shape[0], geometry.axis[0].output, geometry.axis[1].output, shape[3]},
      input->data_type);
}

namespace {

constexpr int kAxes = 3;
constexpr const char *kNames[kAxes] = {"depth", "height", "width"};

}  // namespace

Result<VolumeWindows> WindowsOfVolume(const VolumePoolingAttributes &attributes,
                                      const Shape &input) {
  VolumeWindows windows;
  for (int axis = 0; axis < kAxes; ++axis) {
    // As the height of an image.
    WindowSpec spec;
    spec.kernel[0] = attributes.kernels[axis];
    spec.stride[0] = attributes.strides[axis];
    spec.dilation[0] = attributes.dilations[axis];
    spec.padding = Padding::EXPLICIT;
    spec.pads[0] = attributes.pads[axis];
    spec.pads[2] = attributes.pads[axis + kAxes];
    spec.ceil_mode = attributes.ceil_mode;
    const int64_t size = input[static_cast<size_t>(axis) + 2];
    Result<WindowGeometry> geometry = ComputeWindow(spec, size, 1);
    if (!geometry.ok()) {
      return InvalidArgs("a window of ", spec.kernel[0], " elements, ",
                         spec.dilation[0], " apart, does not fit into the ",
                         kNames[axis], " of ", size, " with padding ",
                         spec.pads[0], " + ", spec.pads[2]);
    }
    windows.axis[axis] = geometry.value().axis[0];
  }
  return windows;
}

MaceStatus InferVolumePoolingShapes(const VolumePoolingAttributes &attributes,
                                    ShapeContext *context) {
  const Tensor *input = context->input(kVolumePoolingInputInput);
  const Shape &shape = input->shape;
  if (shape.rank() != 5) {
    return InvalidArgs("expects [N, C, D, H, W], not ", shape.ToString());
  }
  MACE_ASSIGN_OR_RETURN(const VolumeWindows windows,
                        WindowsOfVolume(attributes, shape));
  return SetOutput(context, 0,
                   {shape[0], shape[1], windows.axis[0].output,
                    windows.axis[1].output, windows.axis[2].output},
                   input->data_type);
}

}  // namespace mace
