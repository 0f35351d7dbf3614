// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_TESTING_SHARE_OF_CASES_H_
#define MACE_OPS_TESTING_SHARE_OF_CASES_H_

#include <algorithm>
#include <cstdlib>

namespace mace::op_test {

// Of how many cases one is tried in every way, where the processor is emulated,
// which is slow (MACE_TEST_CASES_DIVISOR, from .bazelrc); 1 elsewhere.
inline int CasesDivisor() {
  const char *divisor = std::getenv("MACE_TEST_CASES_DIVISOR");
  return divisor == nullptr ? 1 : std::max(1, std::atoi(divisor));
}

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_SHARE_OF_CASES_H_
