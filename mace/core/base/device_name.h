// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_DEVICE_NAME_H_
#define MACE_CORE_BASE_DEVICE_NAME_H_

#include "mace/public/mace_devices.h"

namespace mace {

// "CPU", "GPU", ...
const char *DeviceName(DeviceType device);

}  // namespace mace

#endif  // MACE_CORE_BASE_DEVICE_NAME_H_
