// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/plan_of_direct.h"

namespace mace::conv {
namespace {

class Direct final : public Strategy {
 public:
  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    if (request.layout != FilterLayout::kPanels) return nullptr;
    return std::make_unique<PlanOfDirect>(request);
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeDirect() { return std::make_unique<Direct>(); }

}  // namespace mace::conv
