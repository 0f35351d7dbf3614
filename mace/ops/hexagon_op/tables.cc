// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/tables.h"

#include <algorithm>

#include "mace/kernels/hexagon/packing.h"
#include "mace/ops/quantized_product/limits.h"

namespace mace {

MaceStatus CheckHexagonMultiplier(float multiplier) {
  int32_t mantissa = 0;
  int32_t shift = 0;
  if (hexagon::SplitMultiplier(multiplier, &mantissa, &shift)) {
    return MaceStatus();
  }
  return Unsupported("its scales make a factor of ", multiplier,
                     ", which is no normal number above 0");
}

MaceStatus AddRescaling(HexagonPlanContext *context) {
  const HexagonNumbers from = context->InputNumbers(0);
  const HexagonNumbers to = context->OutputNumbers();
  const float ratio = from.scale / to.scale;
  if (ratio == 1.0f && from.zero == to.zero) return MaceStatus();
  constexpr int kEntries = 256;
  hexagon::MapBytesParameters map = {};
  map.input = context->Output(0);
  map.output = map.input;
  map.table =
      context->Constant("scale", kEntries, [from, to, ratio](uint8_t *table) {
        for (int32_t q = INT8_MIN; q <= INT8_MAX; ++q) {
          const float product = static_cast<float>(q - from.zero) * ratio;
          const double y = RoundToEven(double{product}) + to.zero;
          table[static_cast<uint8_t>(q)] = static_cast<uint8_t>(
              static_cast<int32_t>(std::clamp(y, -128.0, 127.0)));
        }
      });
  context->Add(map);
  return MaceStatus();
}

}  // namespace mace
