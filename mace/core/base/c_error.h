// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What all functions of the C interface do: nothing but a code leaves them, and
// its message is kept.

#ifndef MACE_CORE_BASE_C_ERROR_H_
#define MACE_CORE_BASE_C_ERROR_H_

#include <string>

#include "mace/core/base/status.h"
#include "mace/public/mace_c.h"

namespace mace {

// The message of this thread's last failure; empty before the first.
const std::string &LastErrorOfC();

// The error of an argument that must not be NULL.
MaceStatus IsNull(const char *name);

// Runs the body of an entry point: body(function). One function for all of
// them: what catches takes much room.
mace_code GuardBody(MaceStatus (*body)(const void *), const void *function);

template <typename Function>
mace_code Guard(const Function &function) {
  return GuardBody(
      [](const void *body) -> MaceStatus {
        return (*static_cast<const Function *>(body))();
      },
      &function);
}

// An entry point that needs `object`, the argument of this name.
template <typename Object, typename Function>
mace_code GuardWith(Object *object, const char *name, Function function) {
  return Guard([&]() -> MaceStatus {
    if (object == nullptr) return IsNull(name);
    return function();
  });
}

}  // namespace mace

#endif  // MACE_CORE_BASE_C_ERROR_H_
