// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators that the adapters to vendors' libraries translate, in the terms
// that these libraries share: explicit padding, an activation that is one of
// three, axes that are not negative.

#ifndef MACE_RUNTIMES_ADAPTERS_COMMON_OP_H_
#define MACE_RUNTIMES_ADAPTERS_COMMON_OP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/public/mace_delegate.h"

namespace mace {

enum class CommonKind {
  kConv2d,
  kDepthwiseConv2d,
  kFullyConnected,
  kMaxPool,
  kAveragePool,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kConcat,
  kReshape,
  kSoftmax,
  kActivation,
  kResizeLinear,
  kResizeNearest,
  kMean,
};

enum class CommonActivation { kNone, kRelu, kRelu6, kSigmoid, kTanh };

struct CommonOp {
  CommonKind kind = CommonKind::kReshape;
  // Applied to the result; that of kActivation. For all other kinds one of the
  // first three.
  CommonActivation activation = CommonActivation::kNone;
  // Of convolutions and pooling; index 0 is vertical.
  int64_t kernel[2] = {1, 1};
  int64_t strides[2] = {1, 1};
  int64_t dilations[2] = {1, 1};
  // Top, bottom, left, right.
  int64_t pads[4] = {0, 0, 0, 0};
  int64_t groups = 1;
  // Tensors of the segment; -1: none.
  int bias = -1;
  int residual = -1;
  int64_t axis = 0;
  std::vector<int64_t> axes;
  bool keep_dims = true;
  bool align_corners = false;
  bool half_pixel = false;

  // Computes in floats, or in quantized numbers.
  bool quantized = false;
};

// Fills `op` from the operator of a segment. Returns why there is no such
// common operator, as the rest of a sentence; empty if there is one.
std::string ReadCommonOp(const DelegateSegment &segment,
                         const DelegateOperator &from,
                         CommonOp *op);

}  // namespace mace

#endif  // MACE_RUNTIMES_ADAPTERS_COMMON_OP_H_
