// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/cpu_device.h"

namespace mace {

CpuIsa CpuIsaOf(const Device *device) {
  if (device == nullptr || device->type() != CPU) {
    return ChooseCpuIsaFromEnv().isa;
  }
  return static_cast<const CpuDevice *>(device)->isa();
}

}  // namespace mace
