// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tests that every registered operator must pass: a valid schema, and for any
// case that passes the schema either a status that names the operator, or
// outputs that satisfy the contract. Shapes, types and attributes are random
// and may be invalid; with sanitizers, this is the fuzz test of operators.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mace/core/model/op_signature.h"
#include "mace/kernels/cpu/half_arithmetic.h"
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
using op_test::RandomOf;
using op_test::RunOptions;
using op_test::Tolerance;
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
    // A filter is never computed.
    if ((ports[i].layouts & kPlainLayout) == 0) {
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

// If a processor has the instructions, the library contains the kernels that a
// signature names: the signature of a misspelt family would never apply.
TEST(AllOpsTest, SignaturesNameKernelsThatExist) {
  constexpr CpuIsa kIsas[] = {
#define MACE_ISA_ENTRY(name, base) CpuIsa::name,
      MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_ENTRY)
#undef MACE_ISA_ENTRY
  };
  int signatures = 0;
  for (const OpRegistration *op : CpuOps()) {
    const OpSchema &schema = *op->schema();
    for (size_t i = 0; i < schema.signature_count; ++i) {
      const OpSignature &signature = schema.signatures[i];
      EXPECT_NE(signature.floats, 0u) << schema.type;
      ++signatures;
      if (signature.kernels == nullptr) continue;
      for (CpuIsa isa : kIsas) {
        const Precision asked =
            HasFp16(isa) ? Precision::kFloat16 : Precision::kBfloat16;
        if (!HasFp16(isa) && !HasBf16(isa)) continue;
        if ((signature.floats & DataTypeBit(StorageType(asked))) == 0) continue;
        EXPECT_TRUE(HalfKernelsExist(signature.kernels, isa, asked))
            << schema.type << ": " << signature.kernels << " on "
            << CpuIsaName(isa);
      }
    }
  }
  EXPECT_GT(signatures, 15);
}

// Random floats are within 4 of zero, weights within 1, and few sums have more
// than a hundred terms: a different order of summation changes a result by
// about 1e-6 of 400. A power of a small difference (LocalResponseNorm) has
// larger relative errors.
constexpr op_test::Tolerance kOrderOfSums = {1e-5, 1e-4};

// The number of terms in each sum with packed weights.
double TermsOf(const OpCase &op_case) {
  for (const CaseInput &input : op_case.inputs) {
    const Shape &shape = input.value.shape;
    if ((LayoutBit(input.layout) & kFilterLayouts) != 0 &&
        shape.Elements() > 0) {
      return static_cast<double>(shape.Elements() / shape[0]);
    }
  }
  return 0;
}

bool HasLayout(const OpCase &op_case, ConstantLayout layout) {
  return std::any_of(
      op_case.inputs.begin(), op_case.inputs.end(),
      [layout](const CaseInput &input) { return input.layout == layout; });
}

op_test::Tolerance ToleranceOf(const OpCase &op_case, CpuIsa isa) {
  if (!HasBf16(isa) || !HasLayout(op_case, ConstantLayout::kPackedO16Pairs)) {
    return kOrderOfSums;
  }
  // Each activation, and therefore each term, whose root mean square is 1.3,
  // has a relative error of up to 2^-9. The squares of such errors add up; the
  // tolerance is four times the expected error.
  return {0.01 * std::sqrt(TermsOf(op_case)), 0.01};
}

void ExpectClose(const Value &got,
                 const Value &want,
                 const op_test::Tolerance &tolerance) {
  EXPECT_EQ(got.shape, want.shape);
  ASSERT_EQ(got.data_type, want.data_type);
  if (want.data_type != DataType::kFloat32) {
    EXPECT_TRUE(got.bytes == want.bytes);
    return;
  }
  const std::vector<float> values = want.floats();
  op_test::ExpectNear(got.floats(), {values.begin(), values.end()}, tolerance);
}

// A random number of threads for a case, and a different one.
std::pair<int, int> ThreadCounts(Random *random) {
  constexpr int kCounts[] = {1, 2, 3, 5};
  const int64_t first = random->Int(0, 3);
  return {kCounts[first], kCounts[(first + random->Int(1, 3)) % 4]};
}

// Adds random hints of a deployment; half of all cases have none.
void AddHints(Random *random, OpCase *op_case) {
  constexpr Precision kPrecisions[] = {Precision::kFloat32, Precision::kFloat32,
                                       Precision::kBfloat16,
                                       Precision::kFloat16};
  op_case->ComputeIn(kPrecisions[random->Int(0, 3)]);
  op_case->Winograd(static_cast<int>(random->Int(0, 2)) * 2);
}

// Whether a random case with this number is run, of `count`: emulators are
// slow, and run the same operators, so they take a share of the cases, and more
// only until one is `reached`.
bool IsTaken(int number, int count, bool reached) {
  return number < count / op_test::CasesDivisor() ||
         (number < count && !reached);
}

// On every instruction set in turn. Results must not depend on how work is
// divided.
TEST(AllOpsTest, HonourTheContractOnRandomCases) {
  constexpr int kCases = 2000;
  const std::vector<CpuIsa> isas = op_test::AvailableIsas();
  Random seeds(20);
  const uint32_t seed = seeds.engine()();
  for (const OpRegistration *op : CpuOps()) {
    Random random = RandomOf(*op, seed);
    const OpSchema &schema = *op->schema();
    int succeeded = 0;
    for (int i = 0; IsTaken(i, kCases, succeeded > 0); ++i) {
      OpCase op_case = RandomCase(schema, &random);
      AddHints(&random, &op_case);
      RunOptions options;
      options.isa = isas[i % isas.size()];
      options.in_place = random.Int(0, 3) == 0 ? 0 : -1;
      RunOptions split = options;
      std::tie(options.threads, split.threads) = ThreadCounts(&random);
      const OpResult result = op_test::RunOp(op_case, options);
      ASSERT_EQ(result.violation, "") << schema.type << " case " << i;
      if (result.status.code() == MaceStatus::MACE_OUT_OF_RESOURCES) continue;
      if (IsOk(result.status)) {
        ++succeeded;
      } else {
        ASSERT_NE(result.status.information().find(op_case.def.name),
                  std::string::npos)
            << result.status.information();
      }
      op_test::ExpectSame(result, op_test::RunOp(op_case, split),
                          op_test::OptionsText(options) + " against " +
                              std::to_string(split.threads));
      if (HasFailure()) FAIL() << schema.type << " case " << i;
    }
    EXPECT_GT(succeeded, 0) << schema.type << " was never reached";
    std::printf("%-20s %4d ran\n", schema.type, succeeded);
  }
}

// Each has its own order of summation and its own polynomials.
TEST(AllOpsTest, InstructionSetsAgreeOnRandomCases) {
  constexpr int kCases = 1000;
  const std::vector<CpuIsa> isas = op_test::AvailableIsas();
  if (isas.size() < 2) {
    GTEST_SKIP() << "one instruction set is all that this CPU has";
  }
  Random seeds(22);
  const uint32_t seed = seeds.engine()();
  for (const OpRegistration *op : CpuOps()) {
    Random random = RandomOf(*op, seed);
    int compared = 0;
    for (int i = 0; IsTaken(i, kCases, compared > 0); ++i) {
      const OpCase op_case = RandomCase(*op->schema(), &random);
      RunOptions options;
      options.isa = isas.front();
      const OpResult lowest = op_test::RunOp(op_case, options);
      options.isa = isas[1 + i % (isas.size() - 1)];
      const OpResult result = op_test::RunOp(op_case, options);
      SCOPED_TRACE(op_test::OptionsText(options));
      EXPECT_EQ(lowest.status.information(), result.status.information());
      ASSERT_EQ(lowest.outputs.size(), result.outputs.size());
      if (!IsOk(lowest.status)) continue;
      for (size_t output = 0; output < result.outputs.size(); ++output) {
        ExpectClose(result.outputs[output], lowest.outputs[output],
                    ToleranceOf(op_case, options.isa));
        ++compared;
      }
      if (HasFailure()) FAIL() << op->schema()->type << " case " << i;
    }
    EXPECT_GT(compared, 0) << op->schema()->type << " was never reached";
  }
}

// Replaces values by small integers: their results without division are exact
// in 16 bits too, or rounded once. Random 16-bit values can have any bits,
// including numbers that float16 cannot represent.
void MakeWhole(OpCase *op_case) {
  for (CaseInput &input : op_case->inputs) {
    const DataType type = input.value.data_type;
    const bool half = type == DataType::kFloat16 || type == DataType::kBfloat16;
    if ((type != DataType::kFloat32 && !half) ||
        input.layout != ConstantLayout::kPlain) {
      continue;
    }
    if (half) {
      std::vector<float> small;
      for (uint16_t bits : input.value.As<uint16_t>()) {
        small.push_back(static_cast<float>(bits % 9) - 4.0f);
      }
      const Value floats = Value::Floats(input.value.shape, small);
      input.value = type == DataType::kFloat16 ? op_test::InFloat16(floats)
                                               : op_test::InBfloat16(floats);
      continue;
    }
    std::vector<float> values = input.value.floats();
    for (float &value : values) value = std::nearbyint(value);
    input.value = Value::Floats(input.value.shape, values);
  }
}

// Operators that support 16-bit activations give the same results with them as
// in float32. `rounding` is the tolerance of operators without sums; `per_term`
// is added for each term of a sum. A sum of n terms is about 1.3 sqrt(n); the
// error of every step is up to half of the last place of that, in total 1.3 n
// times as much; the tolerance is three times that.
void CompareWithFloat(CpuIsa isa,
                      Precision precision,
                      double rounding,
                      double per_term) {
  Random seeds(21);
  const uint32_t seed = seeds.engine()();
  for (const OpRegistration *op : CpuOps()) {
    Random random = RandomOf(*op, seed);
    int compared = 0;
    for (int i = 0; IsTaken(i, 1000, true); ++i) {
      OpCase op_case = RandomCase(*op->schema(), &random);
      MakeWhole(&op_case);
      RunOptions options;
      options.isa = isa;
      options.strided = i % 2 == 0;
      const OpResult in_float = op_test::RunOp(op_case, options);
      const OpResult in_half =
          op_test::RunOp(op_case.ComputeIn(precision), options);
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
                            {values.begin(), values.end()},
                            {1e-3 + TermsOf(op_case) * per_term, rounding});
        ++compared;
      }
      if (testing::Test::HasFailure()) {
        FAIL() << op->schema()->type << " case " << i;
      }
    }
    std::printf("%-20s %4d outputs compared\n", op->schema()->type, compared);
  }
}

TEST(AllOpsTest, GiveTheSameInFloat16) {
  int isas = 0;
  for (CpuIsa isa : op_test::AvailableIsas()) {
    if (!HasFp16(isa)) continue;
    ++isas;
    CompareWithFloat(isa, Precision::kFloat16, 0x1p-9, 0x1p-9);
  }
  if (isas == 0) GTEST_SKIP() << "no arithmetic in fp16 on this CPU";
}

// Sums are float; weights, inputs and outputs are bf16.
TEST(AllOpsTest, GiveTheSameInBfloat16) {
  int isas = 0;
  for (CpuIsa isa : op_test::AvailableIsas()) {
    if (!HasBf16(isa)) continue;
    ++isas;
    CompareWithFloat(isa, Precision::kBfloat16, 0x1p-7, 0x1p-7);
  }
  if (isas == 0) GTEST_SKIP() << "no arithmetic in bf16 on this CPU";
}

}  // namespace
}  // namespace mace
