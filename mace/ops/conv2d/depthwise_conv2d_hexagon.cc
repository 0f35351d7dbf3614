// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/conv2d/depthwise_conv2d.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/products.h"

namespace mace {
namespace {

class HexagonDepthwiseConv2dOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const Shape &filter = context->input(kDepthwiseConv2dFilterInput)->shape;
    if (filter[3] != 1) {
      return Unsupported("it has one output for each channel, not ", filter[3]);
    }
    HexagonProduct product({kDepthwiseConv2dInputInput,
                            kDepthwiseConv2dFilterInput,
                            kDepthwiseConv2dBiasInput});
    MACE_ASSIGN_OR_RETURN(product.window, WindowOf(*context));
    product.depthwise = true;
    product.order = FilterOrder::kTapsFirst;
    product.activation =
        ActivationParams(context->AttributesAs<DepthwiseConv2dAttributes>());
    return PlanProduct(product, context);
  }

  HexagonPadding Padding(const HexagonPlanContext &context,
                         size_t /*port*/) const override {
    const Result<WindowGeometry> window = WindowOf(context);
    return window.ok() ? PaddingOf(window.value()) : HexagonPadding();
  }

  HexagonReport Report(const HexagonPlanContext &context) const override {
    const Shape &filter = context.input(kDepthwiseConv2dFilterInput)->shape;
    const Result<WindowGeometry> window = WindowOf(context);
    if (!window.ok()) return {};
    return {context.output(0)->elements() * filter[0] * filter[1],
            ReportWindow(window.value(), filter)};
  }

 private:
  static Result<WindowGeometry> WindowOf(const HexagonPlanContext &context) {
    return DepthwiseConv2dWindow(
        context.AttributesAs<DepthwiseConv2dAttributes>(),
        context.input(kDepthwiseConv2dInputInput)->shape,
        context.input(kDepthwiseConv2dFilterInput)->shape);
  }
};

MACE_REGISTER_QUANTIZED_OP(DepthwiseConv2d, HEXAGON, HexagonDepthwiseConv2dOp);

}  // namespace
}  // namespace mace
