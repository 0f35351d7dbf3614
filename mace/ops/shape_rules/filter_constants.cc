// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/shape_rules/filter_constants.h"

#include "mace/core/base/status.h"

namespace mace {
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

}  // namespace mace
