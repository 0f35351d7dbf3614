// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_KERNELS_CPU_CPU_DEVICE_H_
#define MACE_KERNELS_CPU_CPU_DEVICE_H_

#include "mace/core/op.h"
#include "mace/kernels/cpu/isa.h"

namespace mace {

// The CPU as its ops see it: which copy of the kernels they call. The only
// class that may stand behind a Device whose type() is CPU.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(CpuIsa isa) : isa_(isa) {}
  DeviceType type() const override { return CPU; }
  // Weights for arithmetic that the processor lacks are used in float32.
  MaceStatus CheckHints(const DeploymentHints &hints) const override;
  CpuIsa isa() const { return isa_; }

 private:
  CpuIsa isa_;
};

// The ISA of a CPU device; of a null one, that of ChooseCpuIsaFromEnv().
CpuIsa CpuIsaOf(const Device *device);

}  // namespace mace

#endif  // MACE_KERNELS_CPU_CPU_DEVICE_H_
