// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/epilogue/quantized_conv.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"

namespace mace {
namespace {

class QuantizedFullyConnectedOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const ConvPorts ports = {kFullyConnectedInputInput,
                             kFullyConnectedWeightsInput,
                             kFullyConnectedBiasInput};
    return AtOperator(
        context->def(),
        product_.Init(*context, ports,
                      ActivationParams(
                          context->AttributesAs<FullyConnectedAttributes>())));
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kFullyConnectedInputInput)->shape;
    const Shape &weights = context->input(kFullyConnectedWeightsInput)->shape;
    const int64_t rows = input.Elements(0, input.rank() - 1);
    ConvOpPlan::Settings settings;
    settings.macs = rows * weights.Elements();
    settings.images = false;
    return product_.Plan(settings,
                         conv::MatrixShape(static_cast<ptrdiff_t>(rows),
                                           static_cast<ptrdiff_t>(weights[1]),
                                           static_cast<ptrdiff_t>(weights[0])),
                         context);
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<ConvOpPlan>().Run(context);
    return MaceStatus();
  }

 private:
  QuantizedConv product_;
};

MACE_REGISTER_QUANTIZED_OP(FullyConnected, CPU, QuantizedFullyConnectedOp);

}  // namespace
}  // namespace mace
