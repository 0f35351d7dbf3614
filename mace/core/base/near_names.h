// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_NEAR_NAMES_H_
#define MACE_CORE_BASE_NEAR_NAMES_H_

#include <string>
#include <vector>

namespace mace {

// For "unknown name" messages: the nearest known names by edit distance, or
// all names if there are few, as "'a', 'b', 'c'"; "none" if there are none.
std::string NearNames(const std::string &name,
                      const std::vector<std::string> &known);

}  // namespace mace

#endif  // MACE_CORE_BASE_NEAR_NAMES_H_
