// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/strategy.h"

namespace mace::conv {

MaceStatus CheckPrepared(const void *memory, size_t bytes) {
  if (memory != nullptr) return MaceStatus();
  return OutOfResources("no memory for ", bytes,
                        " bytes of its rearranged filter");
}

void Strategies::Init(CpuIsa isa, int max_tile) {
  in_order_[0] = MakeWinograd(isa, max_tile);
  in_order_[1] = MakeDepthwise(isa);
  in_order_[2] = MakeDirect();
}

std::unique_ptr<Plan> Strategies::MakePlan(const Request &request) const {
  for (const auto &strategy : in_order_) {
    if (strategy == nullptr) continue;
    std::unique_ptr<Plan> plan = strategy->MakePlan(request);
    if (plan != nullptr) return plan;
  }
  return nullptr;
}

}  // namespace mace::conv
