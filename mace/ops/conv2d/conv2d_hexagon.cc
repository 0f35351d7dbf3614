// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/conv2d/conv2d.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/products.h"
#include "mace/ops/quantized_product/quantized_product.h"

namespace mace {
namespace {

class HexagonConv2DOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<Conv2DAttributes>();
    const Shape &filter = context->input(kConv2DFilterInput)->shape;
    HexagonProduct product(
        {kConv2DInputInput, kConv2DFilterInput, kConv2DBiasInput});
    MACE_ASSIGN_OR_RETURN(product.window, WindowOf(*context));
    product.activation = ActivationParams(attributes);
    product.depthwise = IsDepthwise(filter, attributes.groups) &&
                        attributes.groups == filter[0];
    product.groups = attributes.groups;
    if (attributes.groups > kMostGroups && !product.depthwise) {
      return Unsupported("it has ", attributes.groups, " groups for ",
                         filter[0], " channels; it takes up to ", kMostGroups,
                         ", or one for each channel");
    }
    return PlanProduct(product, context);
  }

  HexagonPadding Padding(const HexagonPlanContext &context,
                         size_t /*port*/) const override {
    const Result<WindowGeometry> window = WindowOf(context);
    return window.ok() ? PaddingOf(window.value()) : HexagonPadding();
  }

  // Windows begin at multiples of 8 bytes.
  bool TakesNarrowPixels(const HexagonPlanContext &context,
                         size_t /*port*/) const override {
    const auto &attributes = context.AttributesAs<Conv2DAttributes>();
    return attributes.groups == 1 && attributes.strides[1] % 2 == 0;
  }

  HexagonReport Report(const HexagonPlanContext &context) const override {
    const Shape &filter = context.input(kConv2DFilterInput)->shape;
    const Result<WindowGeometry> window = WindowOf(context);
    if (!window.ok()) return {};
    return {context.output(0)->elements() * filter.Elements(1, 4),
            ReportWindow(window.value(), filter)};
  }

 private:
  // With more, most of its multiply-adds would be for nothing.
  static constexpr int64_t kMostGroups = 8;

  static Result<WindowGeometry> WindowOf(const HexagonPlanContext &context) {
    return Conv2DWindow(context.AttributesAs<Conv2DAttributes>(),
                        context.input(kConv2DInputInput)->shape,
                        context.input(kConv2DFilterInput)->shape);
  }
};

MACE_REGISTER_QUANTIZED_OP(Conv2D, HEXAGON, HexagonConv2DOp);

}  // namespace
}  // namespace mace
