// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_ENVIRONMENT_H_
#define MACE_CORE_BASE_ENVIRONMENT_H_

#include <cstdlib>
#include <cstring>

namespace mace {

// Whether a variable is set, to this value.
inline bool EnvironmentIs(const char *name, const char *value) {
  const char *set = std::getenv(name);
  return set != nullptr && std::strcmp(set, value) == 0;
}

}  // namespace mace

#endif  // MACE_CORE_BASE_ENVIRONMENT_H_
