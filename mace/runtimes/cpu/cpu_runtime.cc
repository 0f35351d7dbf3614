// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The CPU as a device of the engine: chooses the kernels' instruction set once
// and registers itself by being linked.

#include <cstdlib>
#include <memory>

#include "mace/core/device.h"
#include "mace/core/logging.h"
#include "mace/kernels/cpu/cpu_device.h"
#include "mace/kernels/cpu/isa.h"

namespace mace {
namespace {

Result<std::unique_ptr<Device>> CreateCpuDevice() {
  const CpuIsaChoice choice = ChooseCpuIsaFromEnv();
  if (choice.isa == CpuIsa::kNone) {
    return Unsupported(
        "this processor has none of the instruction sets that the library was "
        "built for: ",
        kCpuIsaNames);
  }
  if (choice.request == CpuIsaRequest::kUnknown ||
      choice.request == CpuIsaRequest::kUnsupported) {
    LOG(WARNING) << "MACE_CPU_ISA=" << std::getenv("MACE_CPU_ISA")
                 << (choice.request == CpuIsaRequest::kUnknown
                         ? " is not known"
                         : " can't run on this processor")
                 << " (known: " << kCpuIsaNames << "); "
                 << CpuIsaName(choice.isa) << " is used";
  }
  VLOG(1) << "CPU runtime: " << CpuIsaName(choice.isa);
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>(choice.isa));
}

const DeviceRegistration registration(CPU, CreateCpuDevice);

}  // namespace
}  // namespace mace
