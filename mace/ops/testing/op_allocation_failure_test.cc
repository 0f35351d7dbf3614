// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tests each operator separately and makes every allocation of its creation,
// Init, InferShapes, Plan and Run fail once. The operator must return an error
// or throw std::bad_alloc (which the engine converts to an error), or give the
// same result, and must not leak, which the address sanitizer checks. The
// allocations of the test code fail too.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <new>

#include "mace/core/testing/failing_allocation.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/ops/testing/random_case.h"

namespace mace {
namespace {

using core_test::FailingAllocation;
using op_test::CpuOps;
using op_test::OpCase;
using op_test::OpResult;
using op_test::Random;
using op_test::RandomCase;

// The outcome of a case in which allocation `n` failed.
enum class Ending { kNoFailure, kThrown, kStatus, kSame, kWrong };

Ending EndingOf(const OpCase &op_case, const OpResult &expected, int64_t n) {
  OpResult result;
  {
    const FailingAllocation failing(n, false);
    try {
      result = op_test::RunOp(op_case);
    } catch (const std::bad_alloc &) {
      return Ending::kThrown;
    }
    if (!FailingAllocation::Disarm()) return Ending::kNoFailure;
  }
  if (!result.violation.empty()) return Ending::kWrong;
  if (!IsOk(result.status)) {
    return result.status.code() == MaceStatus::MACE_OUT_OF_RESOURCES
               ? Ending::kStatus
               : Ending::kWrong;
  }
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    if (result.outputs[i].bytes != expected.outputs[i].bytes) {
      return Ending::kWrong;
    }
  }
  return Ending::kSame;
}

TEST(OpAllocationFailureTest, EveryOperatorComesBack) {
  constexpr int kWanted = 8;
  // Few random cases are valid for operators with many constraints.
  constexpr int kTries = 3000;
  constexpr int kMostTries = 60000;
  constexpr int64_t kMany = 10000;
  Random seeds(31);
  const uint32_t seed = seeds.engine()();
  for (const OpRegistration *op : CpuOps()) {
    Random random = op_test::RandomOf(*op, seed);
    const char *type = op->schema()->type;
    int cases = 0;
    int64_t failures = 0;
    for (int i = 0; i < kMostTries && cases < kWanted; ++i) {
      if (i >= kTries && cases > 0) break;
      const OpCase op_case = RandomCase(*op->schema(), &random);
      const OpResult expected = op_test::RunOp(op_case);
      if (!IsOk(expected.status)) continue;
      ++cases;
      int64_t n = 1;
      for (; n < kMany; ++n) {
        const Ending ending = EndingOf(op_case, expected, n);
        if (ending == Ending::kNoFailure) break;
        ASSERT_NE(ending, Ending::kWrong)
            << type << " case " << i << ", allocation " << n;
        ++failures;
      }
      ASSERT_LT(n, kMany) << type;
    }
    EXPECT_GT(cases, 0) << type;
    EXPECT_GT(failures, 5 * cases) << type;
    std::printf("%-20s %d cases, %5d failures\n", type, cases,
                static_cast<int>(failures));
  }
}

}  // namespace
}  // namespace mace
