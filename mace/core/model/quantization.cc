// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantization.h"

#include <algorithm>
#include <cmath>

#include "mace/core/base/status.h"

namespace mace {
namespace {

struct Bounds {
  int64_t low;
  int64_t high;
};

// The range of zero points; empty for types whose values are not quantized.
Bounds BoundsOf(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return {INT8_MIN, INT8_MAX};
    case DataType::kUint8:
      return {0, UINT8_MAX};
    case DataType::kInt16:
      return {INT16_MIN, INT16_MAX};
    case DataType::kInt32:
      return {INT32_MIN, INT32_MAX};
    default:
      return {1, 0};
  }
}

// Lists the first values.
template <typename T>
std::string List(const std::vector<T> &values) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    text += MakeString(i == 0 ? "" : ", ", values[i]);
  }
  if (values.size() > kShown) text += MakeString(", ... (", values.size(), ")");
  return text;
}

}  // namespace

std::string Quantization::ToString() const {
  std::string text =
      MakeString(per_tensor() ? "scale " : "scales ", List(scales));
  if (!zero_points.empty()) text += " zero " + List(zero_points);
  if (!per_tensor()) text += MakeString(" of axis ", axis);
  return text;
}

std::string Quantization::ProblemWith(DataType type) const {
  if (!quantized()) return std::string();
  const Bounds bounds = BoundsOf(type);
  if (bounds.low > bounds.high) {
    return MakeString("it is ", DataTypeName(type),
                      "; quantized values are int8, uint8, int16 or int32");
  }
  if (scales.empty()) return "it has no scale";
  for (float scale : scales) {
    if (!std::isfinite(scale) || scale <= 0) {
      return MakeString("scale ", scale, " is not finite and above 0");
    }
  }
  if (!zero_points.empty() && zero_points.size() != scales.size()) {
    return MakeString("it has ", scales.size(), " scale(s) but ",
                      zero_points.size(), " zero point(s)");
  }
  for (int64_t zero : zero_points) {
    if (zero < bounds.low || zero > bounds.high) {
      return MakeString("zero point ", zero, " does not fit into ",
                        DataTypeName(type));
    }
  }
  if (per_tensor() && axis != 0) {
    return MakeString("it has axis ", axis, " for one scale");
  }
  return std::string();
}

std::string Quantization::ProblemWith(const Shape &shape) const {
  if (!quantized() || per_tensor()) return std::string();
  if (axis < 0 || static_cast<size_t>(axis) >= shape.rank()) {
    return MakeString("it has scales for axis ", axis, " of ",
                      shape.ToString());
  }
  const int64_t length = shape[static_cast<size_t>(axis)];
  if (length < 0 || static_cast<size_t>(length) == scales.size()) {
    return std::string();
  }
  return MakeString("it has ", scales.size(), " scales for axis ", axis, " of ",
                    shape.ToString());
}

}  // namespace mace
