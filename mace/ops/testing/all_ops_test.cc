// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What every registered operator owes, whatever it computes: a sound schema,
// and for any operator that passes the schema either a status that names it or
// outputs within the contract. Random shapes, types and attributes, hostile
// ones included; run with sanitizers, this is the ops' fuzz test.

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "mace/ops/testing/op_runner.h"
#include "mace/ops/testing/random_case.h"

namespace mace {
namespace {

using op_test::CaseInput;
using op_test::CpuOps;
using op_test::OpCase;
using op_test::OpResult;
using op_test::Random;
using op_test::RandomCase;
using op_test::RunOptions;
using op_test::Value;

void CheckPorts(const PortSchema *ports, size_t count, const char *type) {
  std::set<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(testing::Message() << type << " port " << ports[i].name);
    EXPECT_TRUE(names.insert(ports[i].name).second);
    EXPECT_NE(ports[i].data_types, 0u);
    EXPECT_EQ(ports[i].data_types & DataTypeBit(DataType::kUnknown), 0u);
    if (ports[i].variadic) {
      EXPECT_EQ(i + 1, count);
    }
    if (ports[i].packed) {
      EXPECT_TRUE(ports[i].constant);
    }
  }
}

TEST(AllOpsTest, SchemasAreSound) {
  std::set<std::string> types;
  for (const OpRegistration *op : CpuOps()) {
    const OpSchema &schema = *op->schema();
    EXPECT_TRUE(types.insert(schema.type).second)
        << schema.type << " is registered twice";
    EXPECT_EQ(OpRegistration::Find(schema.type, CPU), op);
    EXPECT_GT(schema.output_count, 0u) << schema.type;
    CheckPorts(schema.inputs, schema.input_count, schema.type);
    CheckPorts(schema.outputs, schema.output_count, schema.type);
    EXPECT_NE(op->factory()(), nullptr);
  }
  EXPECT_GT(types.size(), 20u);
}

TEST(AllOpsTest, HonourTheContractOnRandomCases) {
  constexpr int kCases = 3000;
  Random random(20);
  for (const OpRegistration *op : CpuOps()) {
    const OpSchema &schema = *op->schema();
    int succeeded = 0;
    for (int i = 0; i < kCases; ++i) {
      const OpCase op_case = RandomCase(schema, &random);
      RunOptions options;
      options.threads = 1 + i % 3;
      options.in_place = i % 4 == 0 ? 0 : -1;
      const OpResult result = op_test::RunOp(op_case, options);
      ASSERT_EQ(result.violation, "") << schema.type << " case " << i;
      if (IsOk(result.status)) {
        ++succeeded;
      } else if (result.status.code() != MaceStatus::MACE_OUT_OF_RESOURCES) {
        ASSERT_NE(result.status.information().find(op_case.def.name),
                  std::string::npos)
            << result.status.information();
      }
    }
    EXPECT_GT(succeeded, 0) << schema.type << " was never reached";
    std::printf("%-20s %4d of %d ran\n", schema.type, succeeded, kCases);
  }
}

// Small whole numbers instead of any: what operators make of them without
// dividing is exact in float16 too.
void MakeWhole(OpCase *op_case) {
  for (CaseInput &input : op_case->inputs) {
    if (input.value.data_type != DataType::kFloat32 ||
        input.layout != ConstantLayout::kPlain) {
      continue;
    }
    std::vector<float> values = input.value.floats();
    for (float &value : values) value = std::nearbyint(value);
    input.value = Value::Floats(input.value.shape, values);
  }
}

// Of operators that take activations in float16.
TEST(AllOpsTest, GiveTheSameInFloat16) {
  Random random(21);
  for (CpuIsa isa : op_test::AvailableIsas()) {
    if (!HasFp16(isa)) continue;
    for (const OpRegistration *op : CpuOps()) {
      int compared = 0;
      for (int i = 0; i < 1000; ++i) {
        OpCase op_case = RandomCase(*op->schema(), &random);
        MakeWhole(&op_case);
        RunOptions options;
        options.isa = isa;
        options.strided = i % 2 == 0;
        const OpResult in_float = op_test::RunOp(op_case, options);
        const OpResult in_half =
            op_test::RunOp(op_case.DataTypeHint("fp16_fp16"), options);
        ASSERT_EQ(in_half.violation, "") << op->schema()->type << " case " << i;
        ASSERT_EQ(in_half.status.code(), in_float.status.code())
            << op->schema()->type << ": " << in_half.status.information();
        if (!IsOk(in_float.status)) continue;
        ASSERT_EQ(in_half.outputs.size(), in_float.outputs.size());
        for (size_t output = 0; output < in_half.outputs.size(); ++output) {
          const Value &want = in_float.outputs[output];
          if (want.data_type != DataType::kFloat32) continue;
          const std::vector<float> values = want.floats();
          op_test::ExpectNear(in_half.outputs[output].floats(),
                              {values.begin(), values.end()}, {1e-3, 0x1p-9});
          ++compared;
        }
        if (HasFailure()) {
          FAIL() << op->schema()->type << " case " << i;
        }
      }
      std::printf("%-20s %4d outputs compared\n", op->schema()->type, compared);
    }
  }
}

}  // namespace
}  // namespace mace
