// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_SETTINGS_HEXAGON_SETTINGS_H_
#define MACE_RUNTIMES_SETTINGS_HEXAGON_SETTINGS_H_

#include "mace/public/mace_accelerators.h"

namespace mace {

// For the DSP's runtime.
struct HexagonOptions {
  static constexpr const char *kName = "dsp";

  // Only in a process for unsigned code.
  bool unsigned_pd = false;
  // Whether the following have been set.
  bool has_power = false;
  int corner = HEXAGON_NN_CORNER_RELEASE;
  bool may_lower = false;
  int latency_us = 0;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_SETTINGS_HEXAGON_SETTINGS_H_
