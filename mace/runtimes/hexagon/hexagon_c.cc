// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The settings of the DSP in C.

#include "mace/core/base/c_error.h"
#include "mace/core/base/status.h"
#include "mace/public/mace_accelerator_c.h"
#include "mace/public/mace_c_handles.h"

static_assert(static_cast<int>(MACE_CORNER_SVS2) ==
                  mace::HEXAGON_NN_CORNER_SVS2,
              "the same numbers");

mace_code mace_hexagon_configure(
    mace_config *config, int unsigned_pd, int corner, int dcvs, int latency) {
  try {
    if (config == nullptr) {
      return mace::ReportToC(mace::InvalidArgs("`config` is NULL"));
    }
    if (unsigned_pd != 0) {
      return mace::ReportToC(config->config.SetHexagonToUnsignedPD());
    }
    return mace::ReportToC(config->config.SetHexagonPower(
        static_cast<mace::HexagonNNCornerType>(corner), dcvs != 0, latency));
  } catch (...) {
    return mace::ReportToC(mace::CurrentExceptionStatus());
  }
}
