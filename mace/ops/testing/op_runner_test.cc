// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tests that the harness finds violations: each operator here breaks one rule
// of cpu_op.h.

#include "mace/ops/testing/op_runner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::OpResult;
using op_test::OpSession;
using op_test::RunOp;
using op_test::RunOptions;
using op_test::Value;

constexpr PortSchema kPorts[] = {{"x", DataTypeBit(DataType::kFloat32), 0,
                                  false, false, kPlainLayout, false}};
constexpr char kAttributes[] = "ifault";
enum Fault {
  kNone,
  kChangeInput,
  kWriteBeyondOutput,
  kWriteBeyondScratch,
  kForgetOutput,
  kUndeclaredType,
  kWrongInPlace,
  kDependOnParts,
  kDependOnThread,
  kLeaveUnwritten,
  kKeepShapes,
  kNeedRowsOutside,
  kNeedRowsBefore,
  kReadBesideBand,
  kDependOnBands,
  kWriteBeyondBand,
};

struct RuleBreakerAttributes : OpAttributes {
  MaceStatus Parse(const OperatorDef &def) {
    const AttributeValue *given = def.FindAttribute("fault");
    if (given != nullptr) fault = given->i;
    return MaceStatus();
  }

  int64_t fault = kNone;
};

MaceStatus InferRuleBreakerShapes(const RuleBreakerAttributes &attributes,
                                  ShapeContext *context) {
  Shape shape = context->input(0)->shape;
  if (attributes.fault == kForgetOutput) return MaceStatus();
  if (attributes.fault == kWrongInPlace) shape.Append(2);
  context->SetOutput(0, shape,
                     attributes.fault == kUndeclaredType ? DataType::kInt32
                                                         : DataType::kFloat32);
  return MaceStatus();
}

constexpr OpSchema kRuleBreakerSchema = {
    "RuleBreaker",
    kPorts,
    1,
    kPorts,
    1,
    kAttributes,
    1,
    nullptr,
    0,
    sizeof(RuleBreakerAttributes),
    &ParseAttributes<RuleBreakerAttributes>,
    &CallShapeFunction<RuleBreakerAttributes, InferRuleBreakerShapes>};

class RuleBreakerPlan final : public OpPlan, private RowBands {
 public:
  RuleBreakerPlan(int64_t fault, const Shape &shape)
      : fault_(fault), shape_(shape) {}

  const RowBands *row_bands() const override {
    return shape_.rank() == 4 ? this : nullptr;
  }

 private:
  RowRange InputRows(const RowRange &output) const override {
    if (fault_ == kNeedRowsOutside) return {output.begin, output.end + 1};
    if (fault_ == kNeedRowsBefore) {
      return {shape_[1] - output.end, shape_[1] - output.begin};
    }
    return output;
  }
  size_t BandScratchBytes(int64_t) const override { return 0; }
  void RunBand(const RunContext &, const BandRun &run) const override {
    const auto *x = static_cast<const float *>(run.input);
    auto *y = static_cast<float *>(run.output);
    const int64_t count = run.rows.count() * shape_[2] * shape_[3];
    for (int64_t i = 0; i < count; ++i) y[i] = 2 * x[i];
    if (fault_ == kReadBesideBand) y[0] += x[-1];
    if (fault_ == kDependOnBands && run.rows.begin % 3 == 1) y[0] += 1;
    if (fault_ == kWriteBeyondBand) y[count] = 7;
  }

  const int64_t fault_;
  const Shape shape_;
};

// Doubles its input.
class RuleBreakerOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    fault_ = context->AttributesAs<RuleBreakerAttributes>().fault;
    return MaceStatus();
  }
  MaceStatus Plan(PlanContext *context) override {
    context->RequestScratch(16);
    context->AllowInPlace(0, 0);
    const Shape &shape = context->output(0)->shape;
    planned_last_ = shape.Elements();
    context->Keep(std::make_unique<RuleBreakerPlan>(fault_, shape));
    return MaceStatus();
  }
  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(0);
    const float *x = input->As<float>();
    float *y = context->output(0)->MutableAs<float>();
    context->thread_pool()->ParallelFor(
        input->elements(), 8, [&](int64_t begin, int64_t end, int thread) {
          for (int64_t i = begin; i < end; ++i) {
            y[i] = 2 * x[i];
            if (fault_ == kDependOnParts && i == begin) y[i] += 1;
            if (fault_ == kDependOnThread) y[i] += static_cast<float>(thread);
          }
        });
    if (fault_ == kChangeInput) const_cast<float *>(x)[0] = 7;
    if (fault_ == kWriteBeyondOutput) y[input->elements()] = 7;
    if (fault_ == kWriteBeyondScratch) {
      static_cast<float *>(context->scratch())[4] = 7;
    }
    if (fault_ == kLeaveUnwritten) y[2] = NAN;
    if (fault_ == kKeepShapes && planned_last_ != input->elements()) y[0] += 1;
    return MaceStatus();
  }

 private:
  int64_t fault_ = kNone;
  int64_t planned_last_ = 0;
};

MACE_REGISTER_OP(RuleBreaker, CPU, RuleBreakerOp);

OpCase Breaker(Fault fault) {
  std::vector<float> x(40);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  return OpCase("RuleBreaker")
      .Input(Value::Floats({40}, x))
      .Int("fault", fault);
}

bool SameBits(const OpCase &op_case, int threads) {
  RunOptions options;
  const OpResult one = RunOp(op_case, options);
  options.threads = threads;
  return one.outputs[0].bytes == RunOp(op_case, options).outputs[0].bytes;
}

TEST(OpRunnerTest, PassesAnHonestOp) {
  std::vector<double> expected(40);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = 2.0 * i;
  op_test::ExpectFloats(Breaker(kNone), {40}, expected, {});
}

TEST(OpRunnerTest, RunsInPlace) {
  RunOptions options;
  options.in_place = 0;
  const OpResult result = RunOp(Breaker(kNone), options);
  EXPECT_EQ(result.violation, "");
  EXPECT_EQ(result.outputs[0].floats()[3], 6.0f);
}

TEST(OpRunnerTest, CatchesBrokenRules) {
  EXPECT_NE(RunOp(Breaker(kChangeInput)).violation.find("input 0"),
            std::string::npos);
  EXPECT_NE(RunOp(Breaker(kForgetOutput)).violation.find("did not set"),
            std::string::npos);
  EXPECT_NE(RunOp(Breaker(kUndeclaredType)).violation.find("int32"),
            std::string::npos);
  EXPECT_NE(RunOp(Breaker(kWrongInPlace)).violation.find("differ in bytes"),
            std::string::npos);
  EXPECT_FALSE(SameBits(Breaker(kDependOnParts), 3));
  EXPECT_FALSE(SameBits(Breaker(kDependOnThread), 3));
  EXPECT_TRUE(SameBits(Breaker(kNone), 3));
  EXPECT_NE(RunOp(Breaker(kKeepShapes)).outputs[0].bytes,
            RunOp(Breaker(kNone)).outputs[0].bytes);
  EXPECT_TRUE(
      std::isnan(RunOp(Breaker(kLeaveUnwritten)).outputs[0].floats()[2]));
}

OpResult InBands(Fault fault) {
  OpCase op_case = Breaker(fault);
  op_case.inputs[0].value.shape = {2, 10, 1, 2};
  RunOptions options;
  options.bands = true;
  return RunOp(op_case, options);
}

TEST(OpRunnerTest, RunsInBands) {
  const OpResult result = InBands(kNone);
  EXPECT_TRUE(result.may_run_in_bands);
  EXPECT_EQ(result.violation, "");
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(result.outputs[0].floats()[i], 2.0f * static_cast<float>(i));
  }
  EXPECT_FALSE(RunOp(Breaker(kNone)).may_run_in_bands);
}

TEST(OpRunnerTest, CatchesBrokenRulesOfBands) {
  EXPECT_NE(InBands(kNeedRowsOutside).violation.find("of 10"),
            std::string::npos);
  EXPECT_NE(InBands(kNeedRowsBefore).violation.find("before those of"),
            std::string::npos);
  const std::vector<uint8_t> honest = InBands(kNone).outputs[0].bytes;
  EXPECT_NE(InBands(kDependOnBands).outputs[0].bytes, honest);
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "AddressSanitizer ends the program at the access itself";
#endif
#endif
  EXPECT_NE(InBands(kReadBesideBand).outputs[0].bytes, honest);
  EXPECT_NE(InBands(kWriteBeyondBand).violation.find("beside a band"),
            std::string::npos);
}

TEST(OpRunnerTest, CatchesWritesOutside) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "AddressSanitizer ends the program at the write itself";
#endif
#endif
  EXPECT_NE(RunOp(Breaker(kWriteBeyondOutput)).violation.find("output 0"),
            std::string::npos);
  EXPECT_NE(RunOp(Breaker(kWriteBeyondScratch)).violation.find("scratch"),
            std::string::npos);
}

TEST(OpRunnerTest, ChecksTheSchema) {
  const Value x = Value::Floats({1}, {1});
  const auto message = [](const OpCase &op_case) {
    const MaceStatus status = RunOp(op_case).status;
    EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
    return status.information();
  };
  EXPECT_NE(message(OpCase("RuleBreaker")).find("x is missing"),
            std::string::npos);
  EXPECT_NE(
      message(OpCase("RuleBreaker").Input(Value::Ints({1}, {1}))).find("int32"),
      std::string::npos);
  EXPECT_NE(message(OpCase("RuleBreaker").Input(x).Input(x))
                .find("input 1 does not exist"),
            std::string::npos);
  EXPECT_NE(message(OpCase("RuleBreaker").Input(x).Int("color", 1))
                .find("'color' is not declared"),
            std::string::npos);
  EXPECT_NE(message(OpCase("RuleBreaker").Input(x).Float("fault", 1))
                .find("another kind"),
            std::string::npos);
  EXPECT_EQ(RunOp(OpCase("NoSuchOp").Input(x)).status.code(),
            MaceStatus::MACE_UNSUPPORTED);
}

TEST(OpRunnerTest, SessionsTakeOtherShapes) {
  OpCase op_case = Breaker(kNone);
  OpSession session(op_case, RunOptions());
  EXPECT_EQ(session.Run().outputs[0].shape, Shape({40}));
  op_case.inputs[0].value = Value::Floats({2, 1}, {5, 6});
  const OpResult result = session.Run(op_case.inputs);
  EXPECT_EQ(result.outputs[0].shape, Shape({2, 1}));
  EXPECT_EQ(result.outputs[0].floats(), (std::vector<float>{10, 12}));
}

TEST(OpCaseTest, PacksInBlocksOf16) {
  std::vector<float> plain(34 * 2);
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<float>(i);
  const OpCase op_case =
      OpCase("X").Packed(Value::Floats({34, 2}, plain), 2, DataType::kFloat32);
  const std::vector<float> packed = op_case.inputs[0].value.floats();
  ASSERT_EQ(packed.size(), 2u * 2 * 2 * 16);  // groups, panels, depth, lanes
  EXPECT_EQ(packed[0], 0);
  EXPECT_EQ(packed[1], 2);    // o 1, k 0
  EXPECT_EQ(packed[16], 1);   // o 0, k 1
  EXPECT_EQ(packed[32], 32);  // o 16: second panel
  EXPECT_EQ(packed[33], 0);   // padding
  EXPECT_EQ(packed[64], 34);  // group 1: o 17
}

// Random attributes contain this: it used to run forever, or to divide by 0.
TEST(OpCaseTest, PacksNothingOfMoreGroupsThanOutputs) {
  for (const int64_t outputs : {0, 3}) {
    const Value plain = Value::Floats(
        {outputs, 2}, std::vector<float>(static_cast<size_t>(outputs * 2)));
    for (const int64_t groups : {int64_t{4}, INT64_MAX}) {
      OpCase op_case("X");
      op_case.Packed(plain, groups, DataType::kFloat32)
          .Packed(plain, groups, DataType::kFloat16)
          .PackedPairs(plain, groups)
          .PackedScaled(plain, groups);
      ASSERT_EQ(op_case.inputs.size(), 4u);
      for (const op_test::CaseInput &input : op_case.inputs) {
        EXPECT_EQ(input.groups, groups);
        EXPECT_TRUE(input.value.bytes.empty());
      }
    }
  }
}

TEST(OpCaseTest, SixteenBitConversions) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float wide = op_test::WidenFloat16(half);
    if (!std::isnan(wide)) {
      ASSERT_EQ(op_test::NarrowToFloat16(wide), half) << bits;
    }
    const float wide_b = op_test::WidenBfloat16(half);
    if (!std::isnan(wide_b)) {
      ASSERT_EQ(op_test::NarrowToBfloat16(wide_b), half) << bits;
    }
  }
  EXPECT_EQ(op_test::NarrowToFloat16(65519.0f), 0x7bff);
  EXPECT_EQ(op_test::NarrowToFloat16(65520.0f), 0x7c00);
  EXPECT_EQ(op_test::NarrowToFloat16(1.0f + 0x1p-11f), 0x3c00);  // tie to even
  EXPECT_EQ(op_test::NarrowToFloat16(0x1p-25f), 0x0000);
  EXPECT_EQ(op_test::NarrowToBfloat16(1.0f + 0x1p-8f), 0x3f80);
}

}  // namespace
}  // namespace mace
