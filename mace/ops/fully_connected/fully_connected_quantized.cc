// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/conv/quantized_strategy.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/quantized_conv.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"

namespace mace {
namespace {

static_assert(kFullyConnectedInputInput == QuantizedConv::kInput);
static_assert(kFullyConnectedWeightsInput == QuantizedConv::kFilter);
static_assert(kFullyConnectedBiasInput == QuantizedConv::kBias);

class QuantizedFullyConnectedOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    return AtOperator(
        context->def(),
        product_.Init(
            *context,
            ActivationParams(context->AttributesAs<FullyConnectedAttributes>()),
            QuantizedConv::IsInt16(*context) ? conv::MakeInt16Direct()
                                             : conv::MakeQuantizedDirect()));
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &input = context->input(kFullyConnectedInputInput)->shape;
    const Shape &weights = context->input(kFullyConnectedWeightsInput)->shape;
    const int64_t rows = input.Elements(0, input.rank() - 1);
    QuantizedConv::Geometry geometry;
    geometry.shape = conv::MatrixShape(static_cast<ptrdiff_t>(rows),
                                       static_cast<ptrdiff_t>(weights[1]),
                                       static_cast<ptrdiff_t>(weights[0]));
    geometry.macs = rows * weights.Elements();
    geometry.images = false;
    return product_.Plan(geometry, context);
  }

  MaceStatus Run(RunContext *context) const override {
    QuantizedConv::Run(context);
    return MaceStatus();
  }

 private:
  QuantizedConv product_;
};

MACE_REGISTER_QUANTIZED_OP(FullyConnected, CPU, QuantizedFullyConnectedOp);

}  // namespace
}  // namespace mace
