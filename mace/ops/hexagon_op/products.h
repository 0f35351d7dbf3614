// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What convolutions and products with constant weights share on the DSP.

#ifndef MACE_OPS_HEXAGON_OP_PRODUCTS_H_
#define MACE_OPS_HEXAGON_OP_PRODUCTS_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/base/status.h"
#include "mace/kernels/cpu/activation/activation.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/quantized_product/quantized_product.h"
#include "mace/ops/window/window.h"

namespace mace {

// Its result is output 0.
struct HexagonProduct {
  // Input ports: of the pixels, of the filter, and of a bias, which may be
  // absent.
  struct Ports {
    size_t input;
    size_t filter;
    size_t bias;
  };

  explicit HexagonProduct(const Ports &of_operator) : ports(of_operator) {}

  const Ports ports;
  // Every input is a window of one pixel unless a convolution says otherwise.
  WindowGeometry window;
  // Of a depthwise convolution, whose channels have a filter each.
  bool depthwise = false;
  // Of channels, unless it is depthwise. The DSP multiplies all channels of the
  // input; those of other groups by 0.
  int64_t groups = 1;
  FilterOrder order = FilterOrder::kOutputsFirst;
  activation::Params activation;
};

// Adds the instructions. UNSUPPORTED says why that can't be.
MaceStatus PlanProduct(const HexagonProduct &product,
                       HexagonPlanContext *context);

// The pixels around an image that windows read.
HexagonPadding PaddingOf(const WindowGeometry &window);

}  // namespace mace

#endif  // MACE_OPS_HEXAGON_OP_PRODUCTS_H_
