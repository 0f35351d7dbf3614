// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What variables of the environment say of a DSP.

#ifndef MACE_RUNTIMES_HEXAGON_HEXAGON_SETTINGS_H_
#define MACE_RUNTIMES_HEXAGON_HEXAGON_SETTINGS_H_

#include <cstdint>
#include <string>

#include "mace/core/base/status.h"

namespace mace {

struct HexagonSettings {
  // MACE_HEXAGON_THREADS; 0: as many as the DSP has vector contexts.
  uint32_t threads = 0;
  // MACE_HEXAGON_VTCM, in kilobytes there. It is what programs may use at most
  // of a DSP's, and what an emulated one has.
  bool has_fast_bytes = false;
  uint32_t fast_bytes = 0;

  // INVALID_ARGS names a variable with a wrong value.
  static Result<HexagonSettings> Read();
};

// Where the DSP's part of the library is.

// The path of that file: MACE_HEXAGON_SKEL, or in the folder of this library,
// or of the program. RUNTIME_ERROR names the places without it.
Result<std::string> FindSkel(const std::string &name);

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_HEXAGON_SETTINGS_H_
