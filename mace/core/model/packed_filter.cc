// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/packed_filter.h"

#include "mace/core/base/divide.h"

namespace mace {
namespace {

int TogetherLog2(ConstantLayout layout) {
  switch (layout) {
    case ConstantLayout::kPackedO16Pairs:
      return 1;
    case ConstantLayout::kPackedO16Fours:
      return 2;
    default:
      return 0;
  }
}

}  // namespace

PackedFilter::PackedFilter(ConstantLayout layout,
                           const Shape &shape,
                           int64_t groups)
    : outputs_(shape[0] / groups * groups),
      groups_(groups),
      columns_(outputs_ / groups),
      blocks_(DivideUp(columns_, kPackedBlock)),
      depth_(shape.Elements(1, shape.rank())),
      together_log2_(TogetherLog2(layout)) {
  int64_t stored_depth = depth_;
  if (layout == ConstantLayout::kPackedO16Pairs && depth_ > 0) {
    row_ = shape.back();
    row_padding_ = row_ % kPackedPair;
    stored_depth += depth_ / row_ * row_padding_;
  }
  if (layout == ConstantLayout::kPackedO16Scaled) {
    head_ = 2 * kPackedBlock * static_cast<int64_t>(sizeof(float));
  }
  block_stride_ = head_ + stored_depth * kPackedBlock;
}

PackedMatrices::PackedMatrices(const Shape &shape)
    : blocks_(DivideUp(shape.back(), kPackedBlock)),
      fours_(DivideUp(shape[shape.rank() - 2], kPackedFour)) {
  const int64_t blocks = shape.Elements(0, shape.rank() - 2) * blocks_;
  sums_ = blocks * kPackedBlock;
  weights_ = sums_ * fours_ * kPackedFour;
}

}  // namespace mace
