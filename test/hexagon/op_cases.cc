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

// Runs a case that the CPU has computed as `direct`.
OpResult RunAsModel(const OpCase &op_case, const OpResult &direct) {
  OperatorPlacement placement;
  placement.device = DeviceType::CPU;
  OpResult result = case_models::RunModel(
      op_case, direct, RuntimeType::RT_HEXAGON, "", false, &placement);
  TypeCount &count = g_counts[op_case.def.type];
  if (placement.device == DeviceType::HEXAGON) {
    ++count.on_dsp;
  } else {
    const std::string reason =
        placement.refusals.empty() ? "" : placement.refusals.back().reason;
    ++count.refusals[reason];
  }
  return result;
}

bool IsOnDsp(const OpCase &op_case, const OpResult &direct) {
  // Nobody can say how much room the results of other runs would need.
  return direct.outputs.size() == op_case.outputs && IsOk(direct.status) &&
         OpRegistration::For(op_case.def, DeviceType::HEXAGON) != nullptr;
}

// A case with bytes in place of its numbers; false if it has none.
bool ToBytes(DataType type, OpCase *op_case) {
  op_test::Random random(1, op_test::Random::Quiet());
  bool changed = false;
  for (op_test::CaseInput &input : op_case->inputs) {
    const bool is_computed = input.kind == op_test::CaseInput::Kind::kComputed;
    const bool is_there =
        is_computed || input.kind == op_test::CaseInput::Kind::kConstant;
    const DataType from = input.value.data_type;
    if (!is_there || !(from == DataType::kFloat32 ||
                       (is_computed && from == DataType::kInt32))) {
      continue;
    }
    input.value = random.Bytes(input.value.shape);
    input.value.data_type = type;
    changed = true;
  }
  return changed;
}

// An operator that moves elements moves those of any type: what it does with
// bytes is held to what the CPU does.
void ExpectSameBytes(const OpCase &op_case) {
  for (const DataType type : {DataType::kInt8, DataType::kUint8}) {
    OpCase bytes = op_case;
    if (!ToBytes(type, &bytes)) return;
    const OpResult direct = op_test::RunOp(bytes);
    if (!IsOnDsp(bytes, direct)) return;
    const OpResult result = RunAsModel(bytes, direct);
    EXPECT_TRUE(IsOk(result.status)) << result.status.information();
    ASSERT_EQ(result.outputs.size(), direct.outputs.size());
    for (size_t i = 0; i < direct.outputs.size(); ++i) {
      EXPECT_EQ(result.outputs[i].shape, direct.outputs[i].shape);
      EXPECT_TRUE(result.outputs[i].bytes == direct.outputs[i].bytes)
          << op_case.def.type << " of bytes: output " << i << " differs";
    }
  }
}

std::vector<OpResult> RunOnDsp(const OpCase &op_case) {
  const OpResult direct = op_test::RunOp(op_case);
  if (!IsOnDsp(op_case, direct)) return {direct};
  ExpectSameBytes(op_case);
  return {RunAsModel(op_case, direct)};
}

class EveryCase final : public ::testing::Environment {
 public:
  void SetUp() override {
    auto transport = OpenHexagonTransport(HexagonOptions());
    ASSERT_TRUE(transport.ok()) << transport.status().information();
    transport_ = transport.value();
    op_test::RunCasesBy(RunOnDsp, true);
  }
  void TearDown() override {
    int all = 0;
    for (const auto &[type, count] : g_counts) {
      std::printf("%s: %d cases on the DSP\n", type.c_str(), count.on_dsp);
      EXPECT_GT(count.on_dsp, 0) << type;
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
