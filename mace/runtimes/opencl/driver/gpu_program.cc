// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/gpu_program.h"

#include <cstdint>

#include "mace/runtimes/opencl/driver/source_hash.h"

namespace mace {

std::string ProgramId(const ProgramKey &key) {
  const uint64_t hash =
      HashText(kProgramOptions + key.options, HashSource(*key.source));
  return std::string(key.source->name) + " " + HashDigits(hash);
}

}  // namespace mace
