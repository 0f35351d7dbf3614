// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/quantize/lookup_table_schema.h"

namespace mace {
namespace {

class HexagonLookupTableOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    constexpr int64_t kEntries = 256;
    constexpr uint8_t kFlip = 0x80;
    const Tensor &table = *context->input(kLookupTableTableInput);
    hexagon::MapBytesParameters map = {};
    map.input = context->Input(kLookupTableInputInput);
    map.output = context->Output(0);
    map.each_channel = table.shape.rank() == 2 ? 1 : 0;
    // By the bytes that the DSP has, to those that it has.
    const auto flip_of = [](const Tensor &tensor) {
      return tensor.data_type == DataType::kUint8 ? kFlip : uint8_t{0};
    };
    const uint8_t x_flip = flip_of(*context->input(kLookupTableInputInput));
    const uint8_t y_flip = flip_of(*context->output(0));
    const uint8_t *entries = table.As<uint8_t>();
    const int64_t bytes = table.elements();
    map.table = context->Constant(
        "table", bytes, [entries, bytes, x_flip, y_flip](uint8_t *memory) {
          for (int64_t first = 0; first < bytes; first += kEntries) {
            for (int64_t q = 0; q < kEntries; ++q) {
              memory[first + q] =
                  static_cast<uint8_t>(entries[first + (q ^ x_flip)] ^ y_flip);
            }
          }
        });
    context->Add(map);
    return MaceStatus();
  }
};

MACE_REGISTER_OP(LookupTable, HEXAGON, HexagonLookupTableOp);

}  // namespace
}  // namespace mace
