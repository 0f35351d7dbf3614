// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the DSP makes bytes of sums (docs/reference/quantization.md):
//
//   y[n] = clamp(round(float32(a[n]) * m[n]) + z)

#ifndef MACE_OPS_HEXAGON_OP_RESULTS_H_
#define MACE_OPS_HEXAGON_OP_RESULTS_H_

#include <cstdint>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/kernels/cpu/activation/activation.h"
#include "mace/ops/hexagon_op/hexagon_op.h"

namespace mace {

struct HexagonSums {
  std::vector<int32_t> starts;     // of the sums, one for each channel
  std::vector<float> multipliers;  // likewise
  // No |a| is larger.
  int64_t most = INT64_MAX;
};

// The parameters for output 0; `context` gets constants. UNSUPPORTED for a
// multiplier that is not a normal number, or another activation.
Result<hexagon::ResultParameters> AddResults(
    const HexagonSums &sums,
    const activation::Params &activation,
    HexagonPlanContext *context);

}  // namespace mace

#endif  // MACE_OPS_HEXAGON_OP_RESULTS_H_
