// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the cases of the operators' tests as models of one operator, which an
// emulated DSP computes: what it gives is held to what the tests expect, to the
// bit.

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/base/precision.h"
#include "mace/core/model/op.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/public/mace.h"
#include "mace/runtimes/hexagon/transport.h"
#include "test/case_models/case_model.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::OpResult;

struct TypeCount {
  int on_dsp = 0;
  std::map<std::string, int> refusals;  // reason -> cases
};

std::map<std::string, TypeCount> g_counts;

std::vector<OpResult> RunOnDsp(const OpCase &op_case) {
  OpResult direct = op_test::RunOp(op_case);
  // Nobody can say how much room the results of such a run would need.
  const bool has_results = direct.outputs.size() == op_case.outputs;
  if (!has_results || !IsOk(direct.status) ||
      OpRegistration::For(op_case.def, DeviceType::HEXAGON) == nullptr) {
    return {direct};
  }
  OperatorPlacement placement;
  placement.device = DeviceType::CPU;
  const OpResult result = case_models::RunModel(
      op_case, direct, RuntimeType::RT_HEXAGON, "", false, &placement);
  TypeCount &count = g_counts[op_case.def.type];
  if (placement.device == DeviceType::HEXAGON) {
    ++count.on_dsp;
  } else {
    const std::string reason =
        placement.refusals.empty() ? "" : placement.refusals.back().reason;
    ++count.refusals[reason];
  }
  return {result};
}

class EveryCase final : public ::testing::Environment {
 public:
  void SetUp() override {
    auto transport = OpenHexagonTransport();
    ASSERT_TRUE(transport.ok()) << transport.status().information();
    transport_ = transport.value();
    op_test::RunCasesBy(RunOnDsp, true);
  }
  void TearDown() override {
    int all = 0;
    for (const auto &[type, count] : g_counts) {
      std::printf("%s: %d cases on the DSP\n", type.c_str(), count.on_dsp);
      for (const auto &[reason, cases] : count.refusals) {
        std::printf("  %d case(s) on the CPU: %s\n", cases, reason.c_str());
      }
      all += count.on_dsp;
    }
    EXPECT_GT(all, 0);
    transport_ = nullptr;
  }

 private:
  // The emulator is started once for all cases.
  std::shared_ptr<HexagonTransport> transport_;
};

const ::testing::Environment *const every_case =
    ::testing::AddGlobalTestEnvironment(new EveryCase);

}  // namespace
}  // namespace mace
