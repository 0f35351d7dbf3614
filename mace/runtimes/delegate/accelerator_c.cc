// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The settings of accelerators in C.

#include <string>

#include "mace/core/base/c_error.h"
#include "mace/public/mace_accelerator_c.h"
#include "mace/public/mace_c_handles.h"
#include "mace/runtimes/delegate/accelerator_options.h"

static_assert(mace::AcceleratorSetting::CACHE == 0 &&
                  mace::AcceleratorSetting::APU_HINTS == 1 &&
                  mace::AcceleratorSetting::QNN_PERFORMANCE == 2 &&
                  static_cast<int>(MACE_CACHE_LOAD_OR_STORE) ==
                      mace::APU_CACHE_LOAD_OR_STORE &&
                  static_cast<int>(MACE_PREFER_SUSTAINED_SPEED) ==
                      mace::NEURON_PREFER_SUSTAINED_SPEED &&
                  static_cast<int>(MACE_PERFORMANCE_SYSTEM_SETTINGS) ==
                      mace::HEXAGON_SYSTEM_SETTINGS,
              "the same numbers");

mace_code mace_accelerator_configure(mace_config *config,
                                     int setting,
                                     int first,
                                     int second,
                                     const char *binary_file,
                                     const char *storage_file) {
  return mace::GuardWith(config, "config", [=] {
    const std::string binary = binary_file == nullptr ? "" : binary_file;
    const std::string storage = storage_file == nullptr ? "" : storage_file;
    return mace::accelerator::Configure(
        &config->config, {static_cast<mace::AcceleratorSetting::Kind>(setting),
                          first, second, &binary, &storage});
  });
}
