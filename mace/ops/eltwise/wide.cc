// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/eltwise/wide.h"

#include <limits>

namespace mace {
namespace {

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr int64_t kBeyond = std::numeric_limits<int64_t>::max();

bool Fits(int64_t value) { return value == static_cast<int32_t>(value); }

// kBeyond if int32 does not hold it.
int64_t Power(int64_t base, int32_t exponent) {
  if (exponent < 0 || (base >= -1 && base <= 1)) return 0;  // -1, 0 or 1
  int64_t result = 1;
  for (; exponent > 0; --exponent) {  // at most 31 times
    result *= base;
    if (!Fits(result)) return kBeyond;
  }
  return result;
}

template <typename F>
bool AnyExceeds(const eltwise::Rows &rows,
                const int32_t *a,
                const int32_t *b,
                F f) {
  const size_t a_step = rows.a_scalar ? 0 : 1;
  const size_t b_step = rows.b_scalar ? 0 : 1;
  bool exceeds = false;
  for (size_t row = 0; row < rows.rows; ++row) {
    // 64 bits of SSE2 are hardly faster in vectors, and much more code.
#pragma clang loop vectorize(disable) unroll(disable)
    for (size_t i = 0; i < rows.columns; ++i) {
      exceeds |= !Fits(f(int64_t{a[i * a_step]}, int64_t{b[i * b_step]}));
    }
    a += rows.a_row_stride;
    b += rows.b_row_stride;
  }
  return exceeds;
}

}  // namespace

bool Exceeds(eltwise::Binary op,
             const eltwise::Rows &rows,
             const int32_t *a,
             const int32_t *b) {
  using eltwise::Binary;
  const auto any = [&](auto f) { return AnyExceeds(rows, a, b, f); };
  using I = int64_t;
  switch (op) {
    case Binary::kAdd:
      return any([](I x, I y) { return x + y; });
    case Binary::kSub:
      return any([](I x, I y) { return x - y; });
    case Binary::kMul:
      return any([](I x, I y) { return x * y; });
    case Binary::kDiv:
    case Binary::kFloorDiv:
      return any([](I x, I y) { return y == -1 ? -x : 0; });
    case Binary::kPow:
      return any([](I x, I y) { return Power(x, static_cast<int32_t>(y)); });
    case Binary::kSqrDiff:
      return any([](I x, I y) {
        const I difference = x - y;
        return Fits(difference) ? difference * difference : kBeyond;
      });
    case Binary::kMin:
    case Binary::kMax:
    case Binary::kFloorMod:
      break;
  }
  return false;
}

bool Exceeds(eltwise::Unary op, const int32_t *x, size_t n) {
  using eltwise::Unary;
  const bool negates = op == Unary::kNeg || op == Unary::kAbs;
  if (!negates && op != Unary::kSquare) return false;
  bool exceeds = false;
  for (size_t i = 0; i < n; ++i) {
    exceeds |= negates ? x[i] == kLeast : !Fits(int64_t{x[i]} * x[i]);
  }
  return exceeds;
}

}  // namespace mace
