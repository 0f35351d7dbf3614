// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/shape_rules/shape_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mace/core/base/status.h"

namespace mace {
namespace {

// The length of the axis that is `back` axes from the innermost one; 1 if there
// is none.
int64_t DimFromBack(const Shape &shape, size_t back) {
  return back < shape.rank() ? shape[shape.rank() - 1 - back] : 1;
}

}  // namespace

bool BroadcastShapes(const Shape &a, const Shape &b, Shape *output) {
  const size_t rank = std::max(a.rank(), b.rank());
  *output = Shape();
  for (size_t back = rank; back-- > 0;) {
    const int64_t x = DimFromBack(a, back);
    const int64_t y = DimFromBack(b, back);
    if (x != y && x != 1 && y != 1) return false;
    output->Append(x == 1 ? y : x);
  }
  return true;
}

bool MatMulShape(const Shape &a,
                 const Shape &b,
                 bool transpose_a,
                 bool transpose_b,
                 Shape *output) {
  if (a.rank() < 2 || b.rank() < 2) return false;
  const size_t last_a = a.rank() - 1;
  const size_t last_b = b.rank() - 1;
  const int64_t depth = a[transpose_a ? last_a - 1 : last_a];
  if (depth != b[transpose_b ? last_b : last_b - 1]) return false;
  if (!BroadcastShapes(Shape(a.begin(), last_a - 1),
                       Shape(b.begin(), last_b - 1), output)) {
    return false;
  }
  output->Append(a[transpose_a ? last_a : last_a - 1]);
  output->Append(b[transpose_b ? last_b - 1 : last_b]);
  return true;
}

namespace {

std::string WrongFilter(const Shape &shape, const char *expected) {
  if (shape.rank() == 4 && shape.Elements() != 0) return "";
  return MakeString("filter has shape ", shape.ToString(), "; expected ",
                    expected, ", none of them 0");
}

std::string WrongBias(const Tensor *bias, int64_t channels) {
  if (bias == nullptr || bias->shape == Shape{channels}) return "";
  return MakeString("bias has shape ", bias->shape.ToString(), "; expected [",
                    channels, "]");
}

}  // namespace

std::string WrongConvConstants(const Tensor &filter,
                               const Tensor *bias,
                               int64_t groups) {
  const Shape &shape = filter.shape;
  std::string wrong = WrongFilter(shape, "[O, KH, KW, C / groups]");
  if (!wrong.empty()) return wrong;
  if (shape[0] % groups != 0 ||
      (IsPacked(filter.layout) && filter.groups != groups)) {
    return MakeString(groups, " group(s) do not fit a filter of shape ",
                      shape.ToString(), " packed for ", filter.groups,
                      " group(s)");
  }
  return WrongBias(bias, shape[0]);
}

std::string WrongDepthwiseConstants(const Tensor &filter, const Tensor *bias) {
  const Shape &shape = filter.shape;
  std::string wrong = WrongFilter(shape, "[KH, KW, C, M]");
  return wrong.empty() ? WrongBias(bias, shape[2] * shape[3]) : wrong;
}

MaceStatus CheckFusedActivation(Activation activation) {
  if (activation != Activation::PRELU) return MaceStatus();
  return InvalidArgs(
      "activation PRELU cannot be fused; use an operator Activation with "
      "slopes");
}

}  // namespace mace
