// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/cpu_device.h"

#include "mace/core/logging.h"
#include "mace/kernels/cpu/half_arithmetic.h"

namespace mace {

MaceStatus CpuDevice::CheckHints(const DeploymentHints &hints) const {
  const char *lacks = nullptr;
  if (hints.data_type == "bf16_bf16" && !HasBf16(isa_)) lacks = "bf16";
  if (hints.data_type == "fp16_fp16" && !HasFp16(isa_)) lacks = "fp16";
  if (lacks != nullptr) {
    LOG(WARNING) << "the model asks for " << lacks << " arithmetic, which "
                 << CpuIsaName(isa_)
                 << " lacks: it computes in float32 with the " << lacks
                 << " weights";
  } else if (hints.data_type == "fp16_fp16" && !HalfArithmetic::IsLinked()) {
    LOG(WARNING) << "the model asks for fp16 arithmetic, but this library was "
                    "built without the operator Cast, which that needs: it "
                    "computes in float32 with the fp16 weights";
  }
  if (hints.data_type == "bf16_bf16" && PermittedIsa(isa_) != isa_) {
    LOG(WARNING) << "the operating system refuses the registers of "
                 << CpuIsaName(isa_) << ", which a thread's alternate signal "
                 << "stack may be too small for: bf16 products run with "
                 << CpuIsaName(PermittedIsa(isa_));
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
