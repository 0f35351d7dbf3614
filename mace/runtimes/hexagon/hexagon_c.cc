// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The settings of the DSP in C.

#include "mace/core/base/c_error.h"
#include "mace/public/mace_accelerator_c.h"
#include "mace/public/mace_c_handles.h"

static_assert(static_cast<int>(MACE_CORNER_SVS2) ==
                  mace::HEXAGON_NN_CORNER_SVS2,
              "the same numbers");

mace_code mace_hexagon_configure(
    mace_config *config, int unsigned_pd, int corner, int dcvs, int latency) {
  return mace::GuardWith(config, "config", [=] {
    if (unsigned_pd != 0) return config->config.SetHexagonToUnsignedPD();
    return config->config.SetHexagonPower(
        static_cast<mace::HexagonNNCornerType>(corner), dcvs != 0, latency);
  });
}
