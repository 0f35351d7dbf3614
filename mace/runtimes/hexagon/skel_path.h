// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the DSP's part of the library is.

#ifndef MACE_RUNTIMES_HEXAGON_SKEL_PATH_H_
#define MACE_RUNTIMES_HEXAGON_SKEL_PATH_H_

#include <string>

#include "mace/core/base/status.h"

namespace mace {

// The path of that file: MACE_HEXAGON_SKEL, or in the folder of this library,
// or of the program. RUNTIME_ERROR names the places without it.
Result<std::string> FindSkel(const std::string &name);

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_SKEL_PATH_H_
