// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators for tests of the engine, simple enough to check by hand:
//
//   TestAffine(x) = scale * x + offset, in place where it may
//   TestAdd(x, y), in place of either
//   TestCumulative(x): running sums by way of scratch memory
//   TestReciprocal(x) = 1 / x
//   TestReject(x): fails in the step that the attribute `step` names
//   TestPacked(x, filter): x; its filter is a packed constant

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "mace/core/model/attribute_reader.h"
#include "mace/runtimes/testing/test_op.h"

namespace mace {
namespace core_test {
namespace {

constexpr PortSchema kFloatsIn[] = {Port("x", kFloat), Port("y", kFloat)};
constexpr PortSchema kPackedIn[] = {
    Port("x", kFloat),
    {"filter", kFloat, 0, false, true, kFilterLayouts, false}};

constexpr char kAffineAttributes[] = "fscale\0foffset";
constexpr char kRejectAttributes[] = "sstep";

struct TestAffineAttributes : OpAttributes {
  MaceStatus Parse(const OperatorDef &def) {
    AttributeReader reader(def);
    reader.Float("scale", false, &scale);
    reader.Float("offset", false, &offset);
    return reader.status();
  }

  float scale = 1;
  float offset = 0;
};

struct TestRejectAttributes : OpAttributes {
  MaceStatus Parse(const OperatorDef &def) {
    AttributeReader reader(def);
    reader.String("step", true, &step);
    return reader.status();
  }
  MaceStatus Fail(const char *at) const {
    if (step != at) return kSuccess;
    return Unsupported("it was told to fail");
  }

  std::string_view step;
};

MaceStatus AffineShapes(const TestAffineAttributes &attributes,
                        ShapeContext *context) {
  return SameShape(attributes, context);
}

MaceStatus AddShapes(const OpAttributes &attributes, ShapeContext *context) {
  if (context->input(0)->shape != context->input(1)->shape) {
    return InvalidArgs("shapes ", context->input(0)->shape.ToString(), " and ",
                       context->input(1)->shape.ToString(), " differ");
  }
  return SameShape(attributes, context);
}

MaceStatus RejectShapes(const TestRejectAttributes &attributes,
                        ShapeContext *context) {
  if (attributes.step == "type") {
    context->SetOutput(0, {1}, DataType::kInt8);
    return kSuccess;
  }
  if (attributes.step == "shape") {
    context->SetOutput(0, {1, -5}, DataType::kFloat32);
    return kSuccess;
  }
  if (attributes.step == "size") {
    context->SetOutput(0, {int64_t{1} << 40}, DataType::kFloat32);
    return kSuccess;
  }
  MACE_RETURN_IF_ERROR(attributes.Fail("shapes"));
  return SameShape(attributes, context);
}

constexpr OpSchema kTestAffineSchema =
    WithShapes<TestAffineAttributes, AffineShapes>(
        {"TestAffine", kFloatIn, 1, kFloatOut, 1, kAffineAttributes, 2});
constexpr OpSchema kTestAddSchema =
    WithShapes<AddShapes>({"TestAdd", kFloatsIn, 2, kFloatOut, 1, nullptr, 0});
constexpr OpSchema kTestCumulativeSchema = WithShapes<SameShape>(
    {"TestCumulative", kFloatIn, 1, kFloatOut, 1, nullptr, 0});
constexpr OpSchema kTestReciprocalSchema = WithShapes<SameShape>(
    {"TestReciprocal", kFloatIn, 1, kFloatOut, 1, nullptr, 0});
constexpr OpSchema kTestRejectSchema =
    WithShapes<TestRejectAttributes, RejectShapes>(
        {"TestReject", kFloatIn, 1, kFloatOut, 1, kRejectAttributes, 1});
constexpr OpSchema kTestPackedSchema = WithShapes<SameShape>(
    {"TestPacked", kPackedIn, 2, kFloatOut, 1, nullptr, 0});

class AffinePlan final : public OpPlan {
 public:
  explicit AffinePlan(int winograd) : winograd_(winograd) {}
  int64_t Macs() const override { return 7; }
  std::string KernelName() const override {
    return winograd_ == 0 ? "affine" : MakeString("affine", winograd_);
  }

 private:
  int winograd_;
};

class TestAffine final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<TestAffineAttributes>();
    scale_ = attributes.scale;
    offset_ = attributes.offset;
    winograd_ = context->hints().winograd;
    // Like an operator that transforms a constant at load.
    prepared_ = static_cast<float *>(context->AllocatePrepared(sizeof(float)));
    if (prepared_ == nullptr) return OutOfResources("no memory to prepare");
    *prepared_ = offset_;
    return kSuccess;
  }
  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, 0);
    context->AllowStridedInput(0);
    context->AllowStridedOutput(0);
    context->Keep(std::make_unique<AffinePlan>(winograd_));
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) const override {
    const auto *x = context->input(0)->As<float>();
    auto *y = context->output(0)->MutableAs<float>();
    const int64_t length = context->output(0)->row_length();
    const int64_t x_stride = context->input(0)->RowStride();
    const int64_t y_stride = context->output(0)->RowStride();
    context->thread_pool()->ParallelFor(
        context->output(0)->elements(), 64,
        [=](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = i / length;
            const int64_t column = i % length;
            y[row * y_stride + column] =
                scale_ * x[row * x_stride + column] + *prepared_;
          }
        });
    return kSuccess;
  }

 private:
  int winograd_ = 0;
  float scale_ = 1;
  float offset_ = 0;
  float *prepared_ = nullptr;
};

class TestAdd final : public CpuOp {
 public:
  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, 0);
    context->AllowInPlace(0, 1);
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) const override {
    const auto *x = context->input(0)->As<float>();
    const auto *y = context->input(1)->As<float>();
    auto *z = context->output(0)->MutableAs<float>();
    const int64_t count = context->output(0)->elements();
    for (int64_t i = 0; i < count; ++i) z[i] = x[i] + y[i];
    return kSuccess;
  }
};

class TestCumulative final : public CpuOp {
 public:
  MaceStatus Plan(PlanContext *context) override {
    context->RequestScratch(static_cast<size_t>(context->input(0)->bytes()));
    // Like an operator that transforms a constant when shapes are known.
    if (start_ == nullptr) {
      context->RequestPrepared(sizeof(float), [this](void *memory) {
        if (memory == nullptr) return OutOfResources("no memory to prepare");
        start_ = static_cast<float *>(memory);
        *start_ = 0;
        return MaceStatus();
      });
    }
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) const override {
    const Tensor *x = context->input(0);
    auto *sums = static_cast<float *>(context->scratch());
    float sum = *start_;
    for (int64_t i = 0; i < x->elements(); ++i) {
      sums[i] = sum += x->As<float>()[i];
    }
    // Clears the output first: it must not be the input or the scratch.
    auto *y = context->output(0)->MutableAs<float>();
    std::fill(y, y + x->elements(), 0.0f);
    std::copy(sums, sums + x->elements(), y);
    return kSuccess;
  }

 private:
  float *start_ = nullptr;
};

class TestReciprocal final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
    const Tensor *x = context->input(0);
    auto *y = context->output(0)->MutableAs<float>();
    for (int64_t i = 0; i < x->elements(); ++i) y[i] = 1 / x->As<float>()[i];
    return kSuccess;
  }
};

class TestReject final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<TestRejectAttributes>();
    return attributes_.Fail("init");
  }
  MaceStatus Plan(PlanContext *) override { return attributes_.Fail("plan"); }
  MaceStatus Run(RunContext *) const override {
    return attributes_.Fail("run");
  }

 private:
  TestRejectAttributes attributes_;
};

class TestPacked final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
    std::memcpy(context->output(0)->data, context->input(0)->data,
                static_cast<size_t>(context->input(0)->bytes()));
    return kSuccess;
  }
};

MACE_REGISTER_OP(TestAffine, CPU, TestAffine);
MACE_REGISTER_OP(TestAdd, CPU, TestAdd);
MACE_REGISTER_OP(TestCumulative, CPU, TestCumulative);
MACE_REGISTER_OP(TestReciprocal, CPU, TestReciprocal);
MACE_REGISTER_OP(TestReject, CPU, TestReject);
MACE_REGISTER_OP(TestPacked, CPU, TestPacked);

}  // namespace
}  // namespace core_test
}  // namespace mace
