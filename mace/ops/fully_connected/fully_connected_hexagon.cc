// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/products.h"

namespace mace {
namespace {

// A convolution with windows of one pixel.
class HexagonFullyConnectedOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    HexagonProduct product({kFullyConnectedInputInput,
                            kFullyConnectedWeightsInput,
                            kFullyConnectedBiasInput});
    product.activation =
        ActivationParams(context->AttributesAs<FullyConnectedAttributes>());
    return PlanProduct(product, context);
  }

  HexagonReport Report(const HexagonPlanContext &context) const override {
    const Shape &weights = context.input(kFullyConnectedWeightsInput)->shape;
    return {context.output(0)->elements() * weights[1], {}};
  }
};

MACE_REGISTER_QUANTIZED_OP(FullyConnected, HEXAGON, HexagonFullyConnectedOp);

}  // namespace
}  // namespace mace
