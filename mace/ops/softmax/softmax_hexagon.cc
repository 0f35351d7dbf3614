// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/cpu_op/quantized_formulas.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/tables.h"
#include "mace/ops/softmax/softmax_schema.h"

namespace mace {
namespace {

class HexagonSoftmaxOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<SoftmaxAttributes>();
    const Shape &shape = context->input(kSoftmaxInputInput)->shape;
    if (attributes.log) return Unsupported("it has no logarithm");
    if (shape.NormalizeAxis(attributes.axis) + 1 !=
        static_cast<int64_t>(shape.rank())) {
      return Unsupported("its axis is the innermost one, not ", attributes.axis,
                         " of an input of shape ", shape.ToString());
    }
    if (shape.back() > hexagon::kMostSoftmax) {
      return Unsupported("its axis has at most ", hexagon::kMostSoftmax,
                         " elements, not ", shape.back());
    }
    hexagon::ApplySoftmaxParameters softmax = {};
    softmax.input = context->Input(kSoftmaxInputInput);
    softmax.output = context->Output(0);
    softmax.scale = context->OutputNumbers().scale;
    MACE_RETURN_IF_ERROR(CheckHexagonMultiplier(softmax.scale));
    const double scale = context->InputNumbers(kSoftmaxInputInput).scale;
    softmax.exponentials = context->Constant(
        "exponentials", kSoftmaxEntries * sizeof(int32_t),
        [scale](uint8_t *memory) {
          FindSoftmaxExponentials(scale, reinterpret_cast<int32_t *>(memory));
        });
    context->Add(softmax);
    return MaceStatus();
  }
};

MACE_REGISTER_QUANTIZED_OP(Softmax, HEXAGON, HexagonSoftmaxOp);

}  // namespace
}  // namespace mace
