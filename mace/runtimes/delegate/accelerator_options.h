// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the application asks of accelerators, by MaceEngineConfig.

#ifndef MACE_RUNTIMES_DELEGATE_ACCELERATOR_OPTIONS_H_
#define MACE_RUNTIMES_DELEGATE_ACCELERATOR_OPTIONS_H_

#include <string>

#include "mace/core/graph/engine_options.h"
#include "mace/public/mace_accelerators.h"
#include "mace/public/mace_delegate.h"

namespace mace {

struct AcceleratorOptions {
  DelegateOptions delegate;
  AcceleratorCachePolicy cache_policy = ACCELERATOR_CACHE_NONE;
  std::string binary_file;
  std::string storage_file;
};
inline constexpr SharedDeviceOption<AcceleratorOptions> kAcceleratorOptions = {
    "accelerator"};

}  // namespace mace

#endif  // MACE_RUNTIMES_DELEGATE_ACCELERATOR_OPTIONS_H_
