// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/device_name.h"

namespace mace {

const char *DeviceName(DeviceType device) {
  switch (device) {
    case CPU:
      return "CPU";
    case GPU:
      return "GPU";
    case HEXAGON:
      return "DSP";
    case HTA:
      return "HTA";
    case APU:
      return "APU";
    case HTP:
      return "HTP";
    case NPU:
      return "NPU";
  }
  return "unknown device";
}

}  // namespace mace
