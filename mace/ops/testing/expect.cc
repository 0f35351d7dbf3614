// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>

#include "mace/ops/testing/op_runner.h"

namespace mace::op_test {

std::string OptionsText(const RunOptions &options) {
  return MakeString("isa ", CpuIsaName(options.isa), ", ", options.threads,
                    " threads, in place ", options.in_place,
                    options.strided ? ", rows apart" : "",
                    options.parts ? ", inputs in the output" : "",
                    options.bands ? ", in bands" : "");
}

void ExpectSame(const OpResult &first,
                const OpResult &other,
                const std::string &text) {
  EXPECT_EQ(other.violation, "") << text;
  EXPECT_EQ(first.status.information(), other.status.information()) << text;
  ASSERT_EQ(first.outputs.size(), other.outputs.size()) << text;
  if (!IsOk(first.status)) return;
  for (size_t i = 0; i < first.outputs.size(); ++i) {
    EXPECT_EQ(first.outputs[i].shape, other.outputs[i].shape) << text;
    EXPECT_TRUE(first.outputs[i].bytes == other.outputs[i].bytes)
        << "output " << i << " has other bits: " << text;
  }
}

std::vector<CpuIsa> AvailableIsas() {
  std::vector<CpuIsa> isas;
#define MACE_OP_TEST_ADD(name, base) \
  if (CpuSupports(CpuIsa::name)) isas.push_back(CpuIsa::name);
  MACE_FOR_EACH_ISA_AND_BASE(MACE_OP_TEST_ADD)
#undef MACE_OP_TEST_ADD
  return isas;
}

namespace {

// Dense, with strided rows, and in place of each input that allows it.
void ExpectSameInBands(const OpCase &op_case,
                       const OpResult &first,
                       RunOptions options) {
  options.bands = true;
  const int variants = static_cast<int>(first.in_place.size());
  for (int in_place = -1; in_place < variants; ++in_place) {
    options.in_place = in_place;
    ExpectSame(first, RunOp(op_case, options), OptionsText(options));
  }
  options.in_place = -1;
  options.strided = true;
  ExpectSame(first, RunOp(op_case, options), OptionsText(options));
}

// With other numbers of threads, in place, with rows apart and in parts.
void ExpectSameInEveryWay(const OpCase &op_case,
                          const OpResult &first,
                          RunOptions options) {
  for (const int threads : {1, 3}) {
    const int variants = static_cast<int>(first.in_place.size());
    for (int in_place = -1; in_place < variants; ++in_place) {
      options.threads = threads;
      options.in_place = in_place;
      if (threads == 1 && in_place == -1) continue;
      ExpectSame(first, RunOp(op_case, options), OptionsText(options));
    }
    options.in_place = -1;
    for (const auto &[strided, parts] :
         {std::pair{true, false}, {false, true}, {true, true}}) {
      if ((strided && !first.may_be_strided) ||
          (parts && !first.may_have_parts)) {
        continue;
      }
      options.strided = strided;
      options.parts = parts;
      ExpectSame(first, RunOp(op_case, options), OptionsText(options));
    }
    options.strided = options.parts = false;
    if (first.may_run_in_bands) ExpectSameInBands(op_case, first, options);
  }
}

// Whether the next case is tried in every way.
bool InEveryWay() {
  static int count = 0;
  return count++ % CasesDivisor() == 0;
}

std::vector<OpResult> (*g_run_case)(const OpCase &) = nullptr;
bool g_run_all = false;

}  // namespace

void RunCasesBy(std::vector<OpResult> (*run)(const OpCase &op_case), bool all) {
  g_run_case = run;
  g_run_all = all;
}

std::vector<IsaResult> RunEverywhere(const OpCase &op_case) {
  std::vector<IsaResult> results;
  if (g_run_case != nullptr && (g_run_all || !op_case.on_cpu_only)) {
    for (OpResult &result : g_run_case(op_case)) {
      results.push_back({BestCpuIsa(), std::move(result)});
    }
    return results;
  }
  for (const CpuIsa isa : AvailableIsas()) {
    RunOptions options;
    options.isa = isa;
    OpSession session(op_case, options);
    const OpResult first = session.Run();
    EXPECT_EQ(first.violation, "") << OptionsText(options);
    if (InEveryWay()) {
      ExpectSame(first, session.Run(), OptionsText(options) + ", second run");
      ExpectSameInEveryWay(op_case, first, options);
    }
    results.push_back({isa, first});
  }
  EXPECT_FALSE(results.empty()) << "this processor runs no compiled-in ISA";
  return results;
}

void ExpectError(const OpCase &op_case,
                 MaceStatus::Code code,
                 const std::string &text) {
  for (const IsaResult &result : RunEverywhere(op_case)) {
    const MaceStatus &status = result.result.status;
    EXPECT_EQ(status.code(), code) << status.information();
    EXPECT_NE(status.information().find(op_case.def.name), std::string::npos)
        << status.information();
    EXPECT_NE(status.information().find(text), std::string::npos)
        << "expected '" << text << "' in: " << status.information();
  }
}

void ExpectNear(const std::vector<float> &actual,
                const std::vector<double> &expected,
                const Tolerance &tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  size_t wrong = 0;
  size_t worst = 0;
  double worst_excess = -1;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double got = actual[i];
    const double want = expected[i];
    if (std::isnan(want) ? std::isnan(got) : got == want) continue;
    const double bound =
        tolerance.absolute + tolerance.relative * std::fabs(want);
    double excess = std::fabs(got - want) - bound;
    if (!std::isfinite(got) || !std::isfinite(want)) excess = INFINITY;
    if (excess <= 0) continue;
    ++wrong;
    if (excess > worst_excess) {
      worst_excess = excess;
      worst = i;
    }
  }
  EXPECT_EQ(wrong, 0u) << wrong << " of " << actual.size()
                       << " differ; worst at " << worst << ": got "
                       << (wrong > 0 ? actual[worst] : 0) << ", expected "
                       << (wrong > 0 ? expected[worst] : 0);
}

void ExpectFloats(const OpCase &op_case,
                  const Shape &shape,
                  const std::vector<double> &expected,
                  const Tolerance &tolerance) {
  for (const IsaResult &result : RunEverywhere(op_case)) {
    SCOPED_TRACE(CpuIsaName(result.isa));
    ASSERT_TRUE(IsOk(result.result.status))
        << result.result.status.information();
    ASSERT_EQ(result.result.outputs.size(), 1u);
    const Value &output = result.result.outputs[0];
    EXPECT_EQ(output.data_type, DataType::kFloat32);
    EXPECT_EQ(output.shape, shape)
        << output.shape.ToString() << ", expected " << shape.ToString();
    ExpectNear(output.floats(), expected, tolerance);
  }
}

void ExpectValue(const OpCase &op_case, const Value &expected) {
  ExpectValues(op_case, {expected});
}

void ExpectValues(const OpCase &op_case, const std::vector<Value> &expected) {
  for (const IsaResult &result : RunEverywhere(op_case)) {
    SCOPED_TRACE(CpuIsaName(result.isa));
    ASSERT_TRUE(IsOk(result.result.status))
        << result.result.status.information();
    ASSERT_EQ(result.result.outputs.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const Value &output = result.result.outputs[i];
      EXPECT_EQ(output.data_type, expected[i].data_type)
          << DataTypeName(output.data_type);
      EXPECT_EQ(output.shape, expected[i].shape)
          << output.shape.ToString() << ", expected "
          << expected[i].shape.ToString();
      EXPECT_TRUE(output.bytes == expected[i].bytes)
          << "output " << i << " has other values";
    }
  }
}

}  // namespace mace::op_test
