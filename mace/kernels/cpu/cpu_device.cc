// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/cpu_device.h"

#include "mace/core/logging.h"

namespace mace {

MaceStatus CpuDevice::CheckHints(const DeploymentHints &hints) const {
  if (hints.data_type == "bf16_bf16" && !HasBf16(isa_)) {
    LOG(WARNING) << "the model asks for bf16 arithmetic, which "
                 << CpuIsaName(isa_)
                 << " lacks: it computes in float32 with the bf16 weights";
  }
  return MaceStatus();
}

CpuIsa CpuIsaOf(const Device *device) {
  if (device == nullptr || device->type() != CPU) {
    return ChooseCpuIsaFromEnv().isa;
  }
  return static_cast<const CpuDevice *>(device)->isa();
}

}  // namespace mace
