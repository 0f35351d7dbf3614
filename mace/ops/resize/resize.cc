// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "mace/ops/resize/grid_sample_schema.h"
#include "mace/ops/resize/resize.h"

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

// position / scale. If the sizes are given, this is the quotient of two exact
// integers, so that exact elements and exact halves are found. A given scale is
// a float, usually rounded from a fraction: if the quotient rounds to a
// multiple of 1/2 as a float, that multiple is used.
double Unscaled(const ResizeAxis &axis, double position) {
  if (axis.scale == 0) {
    return position * static_cast<double>(axis.input) /
           static_cast<double>(axis.output);
  }
  const double quotient = position / axis.scale;
  const double rounded = static_cast<float>(quotient);
  return std::floor(2 * rounded) == 2 * rounded ? rounded : quotient;
}

double SourceOf(ResizeCoordinates coordinates,
                const ResizeAxis &axis,
                int64_t i) {
  const auto x = static_cast<double>(i);
  const auto input = static_cast<double>(axis.input);
  const auto output = static_cast<double>(axis.output);
  switch (coordinates) {
    case ResizeCoordinates::HALF_PIXEL:
      break;
    case ResizeCoordinates::ALIGN_CORNERS:
      // Of the sizes alone, whatever the scale is.
      return axis.output == 1 ? 0 : x * (input - 1) / (output - 1);
    case ResizeCoordinates::ASYMMETRIC:
      return Unscaled(axis, x);
    case ResizeCoordinates::PYTORCH_HALF_PIXEL:
      if (axis.output == 1) return 0;
      break;
    case ResizeCoordinates::HALF_PIXEL_FLOOR:
      return Unscaled(axis, x + 0.5);
    case ResizeCoordinates::HALF_PIXEL_SYMMETRIC: {
      // The width of the output before it was rounded down.
      const double width = axis.scale == 0 ? output : axis.scale * input;
      return input / 2 * (1 - output / width) + Unscaled(axis, x + 0.5) - 0.5;
    }
  }
  return Unscaled(axis, x + 0.5) - 0.5;
}

int64_t Rounded(ResizeRounding rounding, double x) {
  switch (rounding) {
    case ResizeRounding::PREFER_FLOOR:
      return static_cast<int64_t>(std::ceil(x - 0.5));
    case ResizeRounding::PREFER_CEIL:
      return static_cast<int64_t>(std::floor(x + 0.5));
    case ResizeRounding::FLOOR:
      return static_cast<int64_t>(std::floor(x));
    case ResizeRounding::CEIL:
      break;
  }
  return static_cast<int64_t>(std::ceil(x));
}

// Keys' cubic convolution kernel at distance d >= 0, with slope a at 1.
double Cubic(double a, double d) {
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

// The weights of one output.
struct Position {
  int64_t first = 0;
  std::vector<double> weights;
};

void Weigh(const ResizeAttributes &attributes,
           const ResizeAxis &axis,
           int64_t i,
           Position *position) {
  const bool cubic = attributes.mode == ResizeMode::CUBIC;
  const double x = SourceOf(attributes.coordinates, axis, i);
  const double scale = axis.scale != 0 ? axis.scale
                                       : static_cast<double>(axis.output) /
                                             static_cast<double>(axis.input);
  // The factor of distances; less than 1 widens the kernel.
  const double narrow = attributes.antialias ? std::min(scale, 1.0) : 1.0;
  const double reach = (cubic ? 2 : 1) / narrow;
  const auto low = static_cast<int64_t>(std::floor(x - reach)) + 1;
  const auto high = static_cast<int64_t>(std::ceil(x + reach)) - 1;
  const int64_t last = axis.input - 1;
  position->first = std::clamp<int64_t>(low, 0, last);
  std::vector<double> &weights = position->weights;
  weights.assign(static_cast<size_t>(std::clamp<int64_t>(high, 0, last) -
                                     position->first + 1),
                 0.0);
  double sum = 0;
  for (int64_t k = low; k <= high; ++k) {
    const int64_t inside = std::clamp<int64_t>(k, 0, last);
    if (inside != k && attributes.exclude_outside) continue;
    const double distance = std::fabs(static_cast<double>(k) - x) * narrow;
    const double weight = cubic ? Cubic(attributes.cubic_coefficient, distance)
                                : std::max(0.0, 1 - distance);
    weights[static_cast<size_t>(inside - position->first)] += weight;
    sum += weight;
  }
  if (!attributes.antialias && !attributes.exclude_outside) return;
  for (double &weight : weights) weight /= sum;
}

ResizeTaps Nearest(const ResizeAttributes &attributes, const ResizeAxis &axis) {
  ResizeTaps taps;
  taps.first.reserve(static_cast<size_t>(axis.output));
  for (int64_t i = 0; i < axis.output; ++i) {
    const int64_t nearest =
        Rounded(attributes.rounding, SourceOf(attributes.coordinates, axis, i));
    taps.first.push_back(
        static_cast<int32_t>(std::clamp<int64_t>(nearest, 0, axis.input - 1)));
  }
  return taps;
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

ResizeAxis ResizeAxisOf(const ResizeAttributes &attributes,
                        const Shape &input,
                        const Shape &output,
                        size_t axis) {
  ResizeAxis result;
  result.input = input[axis + 1];
  result.output = output[axis + 1];
  if (!attributes.scales.empty()) {
    result.scale = double{attributes.scales[axis]};
  }
  return result;
}

ResizeTaps PlanResizeAxis(const ResizeAttributes &attributes,
                          const ResizeAxis &axis) {
  if (attributes.mode == ResizeMode::NEAREST) return Nearest(attributes, axis);
  ResizeTaps plan;
  Position position;
  for (int64_t i = 0; i < axis.output; ++i) {
    Weigh(attributes, axis, i, &position);
    plan.taps =
        std::max(plan.taps, static_cast<int64_t>(position.weights.size()));
  }
  plan.first.reserve(static_cast<size_t>(axis.output));
  plan.weights.assign(static_cast<size_t>(axis.output * plan.taps), 0.0f);
  for (int64_t i = 0; i < axis.output; ++i) {
    Weigh(attributes, axis, i, &position);
    const int64_t first = std::min(position.first, axis.input - plan.taps);
    plan.first.push_back(static_cast<int32_t>(first));
    int64_t at = i * plan.taps + position.first - first;
    for (const double weight : position.weights) {
      plan.weights[static_cast<size_t>(at++)] = static_cast<float>(weight);
    }
  }
  return plan;
}

MaceStatus InferGridSampleShapes(const GridSampleAttributes &attributes,
                                 ShapeContext *context) {
  const Tensor *input = context->input(kGridSampleInputInput);
  const Shape &image = input->shape;
  const Shape &grid = context->input(kGridSampleGridInput)->shape;
  const size_t rank = image.rank();
  if (rank != 4 && rank != 5) {
    return InvalidArgs("an image of ", rank,
                       " dimensions; 4 and 5 are supported");
  }
  if (attributes.mode == GridSampleMode::CUBIC && rank != 4) {
    return InvalidArgs("mode CUBIC takes images of 4 dimensions only");
  }
  if (grid.rank() != rank || grid[0] != image[0] ||
      grid.back() != static_cast<int64_t>(rank) - 2) {
    return InvalidArgs("a grid of shape ", grid.ToString(),
                       " does not fit an image of shape ", image.ToString());
  }
  Shape output = grid;
  output[rank - 1] = image.back();
  if (image.Elements(1, rank - 1) == 0 && output.Elements() != 0) {
    return InvalidArgs("an image without pixels");
  }
  return SetOutput(context, 0, output, input->data_type);
}

}  // namespace mace
