// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the cases of the operators' tests as models of one operator, which the
// second device computes: what it gives is held to what the tests expect.

#include <cstdio>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/base/precision.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/public/mace.h"
#include "mace/runtimes/testing/fake_device.h"
#include "test/case_models/case_model.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::OpResult;

int g_on_device = 0;

std::vector<OpResult> RunOnSecondDevice(const OpCase &op_case) {
  OpResult direct = op_test::RunOp(op_case);
  // A model in 16 bits has inputs of floats, which the engine stores.
  const bool in_float = op_case.hints.precision == Precision::kFloat32;
  // Nobody can say how much room the results of such a run would need.
  const bool has_results = direct.outputs.size() == op_case.outputs;
  if (!in_float || !has_results) return {direct};
  OperatorPlacement placement;
  placement.device = DeviceType::CPU;
  OpResult result = case_models::RunModel(op_case, direct, RuntimeType::RT_APU,
                                          "", false, &placement);
  g_on_device += placement.device == DeviceType::APU;
  return {result};
}

class EveryCase final : public ::testing::Environment {
 public:
  void SetUp() override {
    core_test::FakeDeviceSettings settings;
    settings.takes = core_test::TakesAll;
    control_ = std::make_unique<core_test::FakeDeviceControl>(settings);
    op_test::RunCasesBy(RunOnSecondDevice);
  }
  void TearDown() override {
    std::printf("%d cases computed by the second device\n", g_on_device);
    if (::testing::UnitTest::GetInstance()->test_to_run_count() > 200) {
      EXPECT_GT(g_on_device, 5000);
    }
  }

 private:
  std::unique_ptr<core_test::FakeDeviceControl> control_;
};

const ::testing::Environment *const every_case =
    ::testing::AddGlobalTestEnvironment(new EveryCase);

}  // namespace
}  // namespace mace
