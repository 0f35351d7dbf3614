// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/shape.h"

namespace mace {

int64_t Shape::CheckedElements(int64_t limit) const {
  int64_t product = 1;
  bool empty = false;
  for (size_t i = 0; i < rank_; ++i) {
    if (dims_[i] < 0) return -1;
    if (dims_[i] == 0) {
      empty = true;
      continue;
    }
    if (product > limit / dims_[i]) return -1;
    product *= dims_[i];
  }
  return empty ? 0 : product;
}

bool Shape::operator==(const Shape &other) const {
  if (rank_ != other.rank_) return false;
  for (size_t i = 0; i < rank_; ++i) {
    if (dims_[i] != other.dims_[i]) return false;
  }
  return true;
}

std::string Shape::ToString() const {
  std::string text = "[";
  for (size_t i = 0; i < rank_; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims_[i]);
  }
  return text + "]";
}

}  // namespace mace
