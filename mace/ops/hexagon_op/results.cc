// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/results.h"

#include <cstring>
#include <utility>

#include "mace/kernels/hexagon/packing.h"
#include "mace/ops/quantized_product/limits.h"

namespace mace {
namespace {

using hexagon::kNone;
using hexagon::kVectorWords;

constexpr int64_t kMostFloat = int64_t{1} << 24;  // float32 has all integers

// One number for each channel, rounded up to whole vectors.
using Words = std::vector<int32_t>;

uint32_t AddWords(const char *name, Words words, HexagonPlanContext *context) {
  const auto bytes = words.size() * sizeof(int32_t);
  return context->Constant(name, static_cast<int64_t>(bytes),
                           [moved = std::move(words), bytes](uint8_t *memory) {
                             std::memcpy(memory, moved.data(), bytes);
                           });
}

// How far sums may be shifted to the left.
int ShiftFor(int64_t most) {
  constexpr int kMost = 29;
  int left = 0;
  while (left < kMost && (most >> (29 - left)) == 0) ++left;
  return left;
}

}  // namespace

Result<hexagon::ResultParameters> AddResults(
    const HexagonSums &sums,
    const activation::Params &activation,
    HexagonPlanContext *context) {
  if (!IsLimit(activation.kind)) {
    return Unsupported("it takes no activation but RELU and RELUX");
  }
  const size_t channels = sums.starts.size();
  const size_t count =
      (channels + kVectorWords - 1) / kVectorWords * kVectorWords;
  // What fills the last vector up gives 0.
  Words starts(count), mantissas(count, 1 << 30), shifts(count, 30),
      factors(count);
  const int left = ShiftFor(sums.most);
  bool fast = true;
  for (size_t n = 0; n < channels; ++n) {
    const float multiplier = sums.multipliers[n];
    starts[n] = sums.starts[n];
    if (!hexagon::SplitMultiplier(multiplier, &mantissas[n], &shifts[n])) {
      return Unsupported("the scales of channel ", n, " make a factor of ",
                         multiplier, ", which is no normal number above 0");
    }
    fast = fast && sums.most <= UINT32_MAX &&
           hexagon::FastFactor(multiplier, static_cast<uint32_t>(sums.most),
                               left, &factors[n]);
  }
  const HexagonNumbers output = context->OutputNumbers();
  const QuantizedLimits limits =
      LimitsOf(output.Range(), activation, output.scale);
  hexagon::ResultParameters results = {};
  results.bias = AddWords("bias", std::move(starts), context);
  results.mantissa = AddWords("mantissa", std::move(mantissas), context);
  results.shift = AddWords("shift", std::move(shifts), context);
  results.factor =
      fast ? AddWords("factor", std::move(factors), context) : kNone;
  results.left = left;
  results.is_float = sums.most <= kMostFloat ? 1 : 0;
  results.low = limits.low;
  results.high = limits.high;
  return results;
}

}  // namespace mace
