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

using op_test::CpuOps;
using op_test::OpCase;
using op_test::OpResult;
using op_test::Random;
using op_test::RandomCase;
using op_test::RunOptions;

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

}  // namespace
}  // namespace mace
