// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the cases of the operators' tests as models of one operator on the GPU.
// In float, its result is held to what the test expects; with half storage, to
// the CPU's result for inputs that are rounded to half: a function that jumps,
// like FLOOR_MOD, has another result otherwise. The first cases of a test run
// with buffers and with images; the later ones take turns.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/base/precision.h"
#include "mace/core/model/op.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/public/mace.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"
#include "test/case_models/case_model.h"
#include "test/opencl/on_test_driver.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::OpResult;
using op_test::Value;

// Of half storage, relative to the largest element: outputs, constants and what
// is between two kernels are rounded, by 2^-11 each.
constexpr double kHalfError = 4e-3;

// Each run compiles kernels, which takes most of its time, and a test with
// hundreds of cases differs from one to the next in sizes and modes, which meet
// each storage soon enough.
constexpr int kCasesInFull = 8;

struct TypeCount {
  int on_gpu = 0;
  std::map<std::string, int> refusals;  // reason -> cases
};

std::map<std::string, TypeCount> g_counts;

// How many cases of the running test came before.
int CasesBefore() {
  static const testing::TestInfo *test = nullptr;
  static int cases = 0;
  const testing::TestInfo *now =
      testing::UnitTest::GetInstance()->current_test_info();
  if (now != test) cases = 0;
  test = now;
  return cases++;
}

void ExpectCloseInHalf(const OpResult &actual,
                       const OpResult &wanted,
                       const std::string &name) {
  ASSERT_EQ(actual.outputs.size(), wanted.outputs.size()) << name;
  for (size_t i = 0; i < wanted.outputs.size(); ++i) {
    const Value &w = wanted.outputs[i];
    const Value &a = actual.outputs[i];
    EXPECT_EQ(a.shape, w.shape) << name;
    if (w.data_type != DataType::kFloat32) continue;
    const std::vector<float> x = a.floats();
    const std::vector<float> y = w.floats();
    double largest = 0;
    for (float v : y) {
      if (std::isfinite(v)) largest = std::fmax(largest, std::fabs(v));
    }
    // What half can't hold becomes infinite or 0.
    if (largest > 60000) continue;
    double worst = 0;
    for (size_t k = 0; k < y.size(); ++k) {
      if (!std::isfinite(y[k])) continue;
      const double error = std::fabs(static_cast<double>(x[k]) - y[k]);
      worst = std::isnan(error) ? error : std::fmax(worst, error);
      if (std::isnan(error)) break;
    }
    EXPECT_LE(worst, kHalfError * largest + 1e-6) << name << ", output " << i;
  }
}

OpCase WithInputsInHalf(OpCase op_case) {
  for (op_test::CaseInput &input : op_case.inputs) {
    if (input.kind == op_test::CaseInput::Kind::kComputed &&
        input.value.data_type == DataType::kFloat32) {
      input.value = op_test::RoundToHalf(input.value, false);
    }
  }
  return op_case;
}

std::vector<OpResult> RunOnGpu(const OpCase &op_case) {
  OpResult direct = op_test::RunOp(op_case);
  // A model in 16 bits has inputs of floats, which the engine stores.
  const bool in_float = op_case.hints.precision == Precision::kFloat32;
  // Nobody can say how much room the results of such a run would need.
  const bool has_results = direct.outputs.size() == op_case.outputs;
  if (!in_float || !has_results || !IsOk(direct.status)) return {direct};
  // One case shows that an operator without kernels is left to the CPU.
  auto &refusals = g_counts[op_case.def.type].refusals;
  if (OpRegistration::Find(op_case.def.type, DeviceType::GPU) == nullptr &&
      !refusals.empty()) {
    ++refusals.begin()->second;
    return {direct};
  }
  const OpCase in_half = WithInputsInHalf(op_case);
  std::vector<OpResult> results;
  const struct {
    const char *storage;
    const char *data_type;
    bool wrap;
  } runs[] = {
      {"image", "fp16_fp32", true},   {"buffer", "fp16_fp32", true},
      {"buffer", "fp32_fp32", true},  {"image", "fp32_fp32", true},
      {"buffer", "fp32_fp32", false},
  };
  constexpr int kRuns = sizeof(runs) / sizeof(runs[0]);
  static const bool all = std::getenv("MACE_TEST_EVERY_STORAGE") != nullptr;
  const int before = CasesBefore();
  for (int run = 0; run < kRuns; ++run) {
    const auto &[storage, data_type, wrap] = runs[run];
    // In full: every second run. Later, one; another in each five cases, as
    // modes often come in fives.
    const bool its_turn = before < kCasesInFull
                              ? run % 2 == before % 2
                              : run == (before + before / kRuns) % kRuns;
    if (!all && !its_turn) continue;
    setenv("MACE_OPENCL_STORAGE", storage, 1);
    OperatorPlacement placement;
    placement.device = DeviceType::CPU;
    const bool half = std::string(data_type) == "fp16_fp32";
    const OpResult result = case_models::RunModel(
        half ? in_half : op_case, direct, RuntimeType::RT_OPENCL, data_type,
        wrap, &placement);
    TypeCount &count = g_counts[op_case.def.type];
    if (half && placement.device != DeviceType::GPU &&
        placement.refusals.empty()) {
      // The engine left out the GPU, as after any run in half with NaN.
      ++count.refusals["NaN in half"];
      continue;
    }
    if (placement.device != DeviceType::GPU) {
      const std::string reason =
          placement.refusals.empty() ? "" : placement.refusals.back().reason;
      ++count.refusals[reason];
      return {direct};
    }
    ++count.on_gpu;
    if (!half) {
      results.push_back(result);
    } else if (IsOk(result.status)) {
      ExpectCloseInHalf(result, op_test::RunOp(in_half),
                        op_case.def.type + " in half, " + storage);
    }
  }
  return results;
}

class EveryCase final : public test_opencl::OnTestDriver {
 public:
  void SetUp() override {
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
    OnTestDriver::SetUp();
    auto runtime = OpenclRuntime::Get();
    ASSERT_TRUE(runtime.ok()) << runtime.status().information();
    runtime_ = runtime.value();
    std::printf("on %s, %s, driver %s\n", runtime_->device().name.c_str(),
                runtime_->device().version.c_str(),
                runtime_->device().driver_version.c_str());
    op_test::RunCasesBy(RunOnGpu);
  }
  void TearDown() override {
    for (const auto &[type, count] : g_counts) {
      std::printf("%s: %d runs on the GPU\n", type.c_str(), count.on_gpu);
      for (const auto &[reason, cases] : count.refusals) {
        std::printf("  %d case(s) on the CPU: %s\n", cases, reason.c_str());
      }
    }
    runtime_ = nullptr;
    OnTestDriver::TearDown();
  }

 private:
  // Programs are compiled once for all cases.
  std::shared_ptr<OpenclRuntime> runtime_;
};

const ::testing::Environment *const every_case =
    ::testing::AddGlobalTestEnvironment(new EveryCase);

}  // namespace
}  // namespace mace
