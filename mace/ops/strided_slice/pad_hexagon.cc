// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "mace/ops/hexagon_op/moves.h"
#include "mace/ops/strided_slice/pad_schema.h"

namespace mace {
namespace {

class HexagonPadOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<PadAttributes>();
    if (attributes.mode != PadMode::CONSTANT) {
      return Unsupported("it has no mode but CONSTANT");
    }
    const Tensor &input = *context->input(kPadInputInput);
    const Tensor &output = *context->output(0);
    hexagon::FillParameters fill = {};
    fill.output = context->Output(0);
    // Towards zero, and within the model's type.
    const int32_t flip = input.data_type == DataType::kUint8 ? 128 : 0;
    const float value =
        std::clamp(attributes.value, static_cast<float>(INT8_MIN + flip),
                   static_cast<float>(INT8_MAX + flip));
    fill.byte = static_cast<int32_t>(value) - flip;
    context->Add(fill);
    if (input.elements() == 0) return MaceStatus();
    HexagonMove move(input.shape, output.shape);
    for (size_t i = 0; i < input.shape.rank(); ++i) {
      move.Skip({i, 0}, {i, attributes.pads[2 * i]});
      move.Loop(input.shape[i], i, i);
    }
    return move.Add(context->Input(kPadInputInput), fill.output, context);
  }
};

MACE_REGISTER_OP(Pad, HEXAGON, HexagonPadOp);

}  // namespace
}  // namespace mace
