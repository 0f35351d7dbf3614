// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Integers that quantized operators compute with, made of scales and weights
// (docs/reference/quantization.md). Devices that compute the same results share
// them.

#ifndef MACE_OPS_CPU_OP_QUANTIZED_FORMULAS_H_
#define MACE_OPS_CPU_OP_QUANTIZED_FORMULAS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/ops/cpu_op/quantized_tensor.h"

namespace mace {

// The factors of the operands of a sum of bytes, and by how many bits sums are
// shifted.
struct SumFactors {
  int shift = 0;
  int32_t a = 0;
  int32_t b = 0;
};

inline SumFactors SumFactorsOf(float a_scale, float b_scale, float scale) {
  // Of sums of two: 510 * 2^kFactorBits + 2^(kLargestShift - 1) < 2^31.
  constexpr int kFactorBits = 21;
  constexpr int kLargestShift = 30;
  constexpr double kLargest = (1 << kFactorBits) - 1;
  const float a = a_scale / scale;
  const float b = b_scale / scale;
  const double larger = std::max(a, b);
  SumFactors factors;
  while (factors.shift < kLargestShift &&
         larger * (int64_t{2} << factors.shift) < 1 << kFactorBits) {
    ++factors.shift;
  }
  const double unit = int64_t{1} << factors.shift;
  const auto rounded = [kLargest](double x) {
    return static_cast<int32_t>(RoundToEven(std::min(x, kLargest)));
  };
  factors.a = rounded(a * unit);
  factors.b = rounded(b * unit);
  return factors;
}

inline constexpr int kSoftmaxEntries = 256;

// exp(-k * scale) * 2^30 for each difference k of two bytes, by IEEE arithmetic
// alone: one operation in each statement, as compilers may fuse others.
inline void FindSoftmaxExponentials(double scale, int32_t *exponentials) {
  // exp(-scale) is 0 in units of 1 / kOne for larger scales.
  constexpr double kMostScale = 64.0;
  constexpr double kOne = 1 << 30;
  // exp(-scale) is exp(-scale / 2^kSquares) squared kSquares times.
  constexpr int kSquares = 12;
  constexpr int kTerms = 6;
  double ratio = 0.0;
  if (scale <= kMostScale) {
    double t = scale;
    for (int i = 0; i < kSquares; ++i) t *= 0.5;
    ratio = 1.0;
    for (int i = kTerms; i > 0; --i) {
      ratio *= t;
      ratio /= i;
      ratio = 1.0 - ratio;
    }
    for (int i = 0; i < kSquares; ++i) ratio *= ratio;
  }
  double power = kOne;
  for (int k = 0; k < kSoftmaxEntries; ++k) {
    exponentials[k] = static_cast<int32_t>(RoundToEven(power));
    power *= ratio;
  }
}

// Weights of one axis of a resize as integers, `taps` for each output, whose
// sum is `one`; what rounding lacks goes to the first of the largest.
inline std::vector<int32_t> IntegerWeights(const std::vector<float> &weights,
                                           size_t taps,
                                           int32_t one) {
  std::vector<int32_t> made(weights.size());
  for (size_t at = 0; at < made.size(); at += taps) {
    int32_t *const of_output = made.data() + at;
    int32_t left = one;
    for (size_t k = 0; k < taps; ++k) {
      of_output[k] =
          static_cast<int32_t>(RoundToEven(double{weights[at + k]} * one));
      left -= of_output[k];
    }
    *std::max_element(of_output, of_output + taps) += left;
  }
  return made;
}

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_QUANTIZED_FORMULAS_H_
