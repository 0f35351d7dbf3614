// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/resize/axis.h"

#include <algorithm>
#include <cmath>

namespace mace {

namespace {

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
  // The width of the output before it was rounded down.
  const double width = axis.scale == 0 ? output : axis.scale * input;
  switch (coordinates) {
    case ResizeCoordinates::HALF_PIXEL:
      break;
    case ResizeCoordinates::ALIGN_CORNERS:
      return axis.output == 1 ? 0 : x * (input - 1) / (width - 1);
    case ResizeCoordinates::ASYMMETRIC:
      return Unscaled(axis, x);
    case ResizeCoordinates::PYTORCH_HALF_PIXEL:
      if (axis.output == 1) return 0;
      break;
    case ResizeCoordinates::HALF_PIXEL_FLOOR:
      return Unscaled(axis, x + 0.5);
    case ResizeCoordinates::HALF_PIXEL_SYMMETRIC:
      return input / 2 * (1 - output / width) + Unscaled(axis, x + 0.5) - 0.5;
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

}  // namespace mace
