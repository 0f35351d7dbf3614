// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/quantized_formulas.h"
#include "mace/ops/eltwise/eltwise.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/tables.h"
#include "mace/ops/quantized_product/limits.h"

namespace mace {
namespace {

// Whether the DSP's dimensions of an operand are the output's, or 1.
MaceStatus CheckOperand(const Shape &operand, const Shape &output) {
  const HexagonDims from = HexagonDims::Of(operand);
  const HexagonDims to = HexagonDims::Of(output);
  if (from.batch != to.batch && from.batch != 1) {
    return Unsupported("it does not repeat ", operand.ToString(), " to ",
                       output.ToString());
  }
  if (from.channels != to.channels &&
      to.channels > hexagon::kMostRepeatedBytes) {
    return Unsupported("it repeats one channel to at most ",
                       hexagon::kMostRepeatedBytes, ", not ", to.channels);
  }
  return MaceStatus();
}

class HexagonEltwiseOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<EltwiseAttributes>();
    hexagon::EltwiseMode mode;
    if (!FindQuantizedMode(attributes.mode, &mode)) {
      return Unsupported("it has no mode but ADD, SUB, MUL, MAX and MIN");
    }
    const activation::Params activation = ActivationParams(attributes);
    if (!IsLimit(activation.kind)) {
      return Unsupported("it takes no activation but RELU and RELUX");
    }
    const Shape &shape = context->output(0)->shape;
    for (const size_t port : {kEltwiseAInput, kEltwiseBInput}) {
      MACE_RETURN_IF_ERROR(CheckOperand(context->input(port)->shape, shape));
    }
    const HexagonNumbers a = context->InputNumbers(kEltwiseAInput);
    const HexagonNumbers b = context->InputNumbers(kEltwiseBInput);
    const HexagonNumbers y = context->OutputNumbers();
    hexagon::CombineParameters combine = {};
    combine.mode = static_cast<uint32_t>(mode);
    if (mode == hexagon::EltwiseMode::kProduct) {
      combine.multiplier = a.scale * b.scale / y.scale;
      MACE_RETURN_IF_ERROR(CheckHexagonMultiplier(combine.multiplier));
    } else {
      const SumFactors factors = SumFactorsOf(a.scale, b.scale, y.scale);
      combine.shift = factors.shift;
      combine.a_factor = factors.a;
      combine.b_factor =
          attributes.mode == EltwiseMode::SUB ? -factors.b : factors.b;
    }
    const QuantizedLimits limits = LimitsOf(y.Range(), activation, y.scale);
    combine.low = limits.low;
    combine.high = limits.high;
    combine.a = context->Input(kEltwiseAInput);
    combine.b = context->Input(kEltwiseBInput);
    combine.output = context->Output(0);
    context->Add(combine);
    return MaceStatus();
  }
};

MACE_REGISTER_QUANTIZED_OP(Eltwise, HEXAGON, HexagonEltwiseOp);

}  // namespace
}  // namespace mace
