// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/testing/fake_contexts.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::ExpectValue;
using op_test::IsaResult;
using op_test::OpCase;
using op_test::RunEverywhere;
using op_test::Value;

const Value kAny = Value::Ints({2}, {1, 2});

OpCase CaseOf(const char *distribution, int32_t count) {
  return OpCase("Random")
      .Input(kAny)
      .Constant(Value::Ints({1}, {count}))
      .String("distribution", distribution);
}

// FNV-1a of the bits.
uint32_t HashOf(const std::vector<float> &values) {
  uint32_t hash = 2166136261u;
  for (const float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    hash = (hash ^ bits) * 16777619u;
  }
  return hash;
}

// The test vector of the authors for key 0 and counter 0.
TEST(RandomOpTest, TheBitsAreThoseOfPhilox) {
  const auto expected = [](uint32_t word) { return (word >> 8) * 0x1p-24; };
  ExpectFloats(
      CaseOf("UNIFORM", 3), {3},
      {expected(0x6627e8d5u), expected(0xe169c58du), expected(0xbc57ac4cu)},
      {0, 0});
}

// random_test.py expects the same of random.py.
TEST(RandomOpTest, TheBitsAreThoseOfTheFormula) {
  for (const IsaResult &r :
       RunEverywhere(CaseOf("NORMAL", 4000).Ints("seed", {7, -3}))) {
    EXPECT_EQ(HashOf(r.result.outputs[0].floats()), 3809003973u);
  }
  for (const IsaResult &r :
       RunEverywhere(CaseOf("UNIFORM", 4000).Ints("seed", {7, -3}))) {
    EXPECT_EQ(HashOf(r.result.outputs[0].floats()), 1746704108u);
  }
}

TEST(RandomOpTest, ASeedMayBeComputed) {
  for (const IsaResult &r : RunEverywhere(
           OpCase("Random")
               .Input(Value::Floats({40, 100}, std::vector<float>(4000)))
               .NoInput()
               .Input(Value::Ints({2}, {7, -3}))
               .String("distribution", "NORMAL"))) {
    EXPECT_EQ(r.result.outputs[0].shape, (Shape{40, 100}));
    EXPECT_EQ(HashOf(r.result.outputs[0].floats()), 3809003973u);
  }
}

// Moments of a million numbers, within 5 deviations of what they vary by.
TEST(RandomOpTest, Moments) {
  constexpr int kCount = 1000000;
  const auto moments = [](const char *distribution) {
    const op_test::OpResult result =
        op_test::RunOp(CaseOf(distribution, kCount).Ints("seed", {1, 2}));
    std::vector<double> sums(5);
    for (const float v : result.outputs[0].floats()) {
      double power = 1;
      for (double &sum : sums) {
        sum += power / kCount;
        power *= static_cast<double>(v);
      }
    }
    return sums;
  };
  const std::vector<double> uniform = moments("UNIFORM");
  EXPECT_NEAR(uniform[1], 1.0 / 2, 0.0015);
  EXPECT_NEAR(uniform[2], 1.0 / 3, 0.0015);
  EXPECT_NEAR(uniform[4], 1.0 / 5, 0.0015);
  const std::vector<double> normal = moments("NORMAL");
  EXPECT_NEAR(normal[1], 0, 0.005);
  EXPECT_NEAR(normal[2], 1, 0.0071);
  EXPECT_NEAR(normal[3], 0, 0.0194);
  EXPECT_NEAR(normal[4], 3, 0.049);
}

TEST(RandomOpTest, EachRunOfAPlanDrawsOthers) {
  const OpCase op_case = OpCase("Random");
  const OpRegistration *registration = OpRegistration::For(op_case.def, CPU);
  ASSERT_NE(registration, nullptr);
  ParsedAttributes attributes;
  ASSERT_EQ(attributes.Parse(*registration->schema(), op_case.def),
            MaceStatus());
  std::unique_ptr<CpuOp> op(
      static_cast<CpuOp *>(registration->factory()().release()));
  op_test::ShuffledPool pool(1);
  op_test::Buffers prepared;
  std::vector<Tensor> inputs(1);
  std::vector<op_test::CaseInput> case_inputs(1);
  op_test::FakeInitContext init(op_case.def, attributes.get(), inputs,
                                case_inputs, op_case.hints, BestCpuIsa(), &pool,
                                &prepared);
  ASSERT_EQ(op->Init(*registration->schema(), &init), MaceStatus());
  float numbers[4];
  std::vector<Tensor> outputs(1);
  outputs[0].shape = {4};
  outputs[0].data_type = DataType::kFloat32;
  outputs[0].data = numbers;
  const std::vector<const Tensor *> bound = {inputs.data()};
  op_test::FakePlanContext plan(bound, outputs, &pool, &prepared);
  ASSERT_EQ(op->Plan(&plan), MaceStatus());
  std::vector<float> firsts;
  for (int run = 0; run < 3; ++run) {
    op_test::FakeRunContext context(bound, &outputs, nullptr,
                                    plan.record().plan.get(), &pool);
    ASSERT_EQ(op->Run(&context), MaceStatus());
    firsts.push_back(numbers[0]);
  }
  EXPECT_NE(firsts[0], firsts[1]);
  EXPECT_NE(firsts[1], firsts[2]);
  EXPECT_NE(firsts[0], firsts[2]);
}

TEST(RandomOpTest, Errors) {
  ExpectError(OpCase("Random").Input(kAny).Input(Value::Ints({1}, {3})),
              MaceStatus::MACE_UNSUPPORTED, "is not known before the run");
  ExpectError(CaseOf("UNIFORM", -1), MaceStatus::MACE_INVALID_ARGS,
              "dimension 0 of the shape is -1");
  ExpectError(OpCase("Random").Input(kAny).Constant(Value::Ints({}, {3})),
              MaceStatus::MACE_INVALID_ARGS, "shape has the shape []");
  ExpectError(OpCase("Random").Input(kAny).Constant(
                  Value::Ints({9}, std::vector<int32_t>(9, 1))),
              MaceStatus::MACE_INVALID_ARGS, "at most 8");
  ExpectError(
      OpCase("Random").Input(kAny).NoInput().Input(Value::Ints({1}, {3})),
      MaceStatus::MACE_INVALID_ARGS, "seed has the shape [1], not [2]");
}

}  // namespace
}  // namespace mace
