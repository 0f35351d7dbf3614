// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Division of sizes, rounded up. Not for sources that are compiled once per
// instruction set: the linker would keep one of the copies for all.

#ifndef MACE_CORE_BASE_DIVIDE_H_
#define MACE_CORE_BASE_DIVIDE_H_

#include <type_traits>

namespace mace {

// The number of pieces of `b` that hold `a`; a >= 0, b > 0. The first argument
// has the type of the result.
template <typename Integer>
constexpr Integer DivideUp(Integer a, std::common_type_t<Integer> b) {
  return (a + b - 1) / b;
}

// The least multiple of `b` that is not less than `a`.
template <typename Integer>
constexpr Integer RoundUp(Integer a, std::common_type_t<Integer> b) {
  return DivideUp(a, b) * b;
}

}  // namespace mace

#endif  // MACE_CORE_BASE_DIVIDE_H_
