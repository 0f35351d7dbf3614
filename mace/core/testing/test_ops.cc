// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators for tests of the engine, small enough to see through, and a CPU
// that runs them:
//
//   TestAffine(x) = scale * x + offset, in place where it may
//   TestAdd(x, y), in place of either
//   TestCumulative(x): running sums by way of scratch memory
//   TestShape(x): the shape of x as int32, known before the run
//   TestDouble(i): 2 * i for int32
//   TestFill(shape): a tensor of that shape, which must be known before the
//       run, filled with the attribute `value`
//   TestReciprocal(x) = 1 / x
//   TestReject(x): fails in the step that the attribute `step` names
//   TestPacked(x, filter): x; its filter is a packed constant
//   TestJoin(xs...): joined along the last axis; rows may be apart
//   TestSplit(x): halves of the last dimension, as many outputs as asked for
//
// TestLeftOut and TestMissing exist, but not in this program.

#include <algorithm>
#include <cstring>
#include <string>

#include "mace/core/attribute_reader.h"
#include "mace/core/device.h"
#include "mace/core/op.h"

namespace mace {
namespace core_test {
namespace {

constexpr uint32_t kFloat = DataTypeBit(DataType::kFloat32);
constexpr uint32_t kInt = DataTypeBit(DataType::kInt32);

constexpr PortSchema Port(const char *name, uint32_t types) {
  return {name, types, false, false, false, false};
}

constexpr PortSchema kFloatIn[] = {Port("x", kFloat)};
constexpr PortSchema kFloatsIn[] = {Port("x", kFloat), Port("y", kFloat)};
constexpr PortSchema kAnyIn[] = {Port("x", kFloat | kInt)};
constexpr PortSchema kIntIn[] = {Port("i", kInt)};
constexpr PortSchema kFloatOut[] = {Port("output", kFloat)};
constexpr PortSchema kIntOut[] = {Port("output", kInt)};
constexpr PortSchema kFloatsOut[] = {
    {"outputs", kFloat, false, false, false, true}};
constexpr PortSchema kManyIn[] = {{"xs", kFloat, false, false, false, true}};
constexpr PortSchema kPackedIn[] = {
    Port("x", kFloat), {"filter", kFloat, false, true, true, false}};

constexpr AttributeSchema kAffineAttributes[] = {
    {"scale", AttributeKind::kFloat}, {"offset", AttributeKind::kFloat}};
constexpr AttributeSchema kFillAttributes[] = {
    {"value", AttributeKind::kFloat}};
constexpr AttributeSchema kRejectAttributes[] = {
    {"step", AttributeKind::kString}};

constexpr OpSchema kTestAffineSchema = {
    "TestAffine", kFloatIn, 1, kFloatOut, 1, kAffineAttributes, 2};
constexpr OpSchema kTestAddSchema = {"TestAdd", kFloatsIn, 2, kFloatOut,
                                     1,         nullptr,   0};
constexpr OpSchema kTestCumulativeSchema = {
    "TestCumulative", kFloatIn, 1, kFloatOut, 1, nullptr, 0};
constexpr OpSchema kTestShapeSchema = {"TestShape", kAnyIn,  1, kIntOut,
                                       1,           nullptr, 0};
constexpr OpSchema kTestDoubleSchema = {"TestDouble", kIntIn, 1, kIntOut, 1,
                                        nullptr,      0};
constexpr OpSchema kTestFillSchema = {"TestFill", kIntIn,          1, kFloatOut,
                                      1,          kFillAttributes, 1};
constexpr OpSchema kTestReciprocalSchema = {
    "TestReciprocal", kFloatIn, 1, kFloatOut, 1, nullptr, 0};
constexpr OpSchema kTestRejectSchema = {
    "TestReject", kFloatIn, 1, kFloatOut, 1, kRejectAttributes, 1};
constexpr OpSchema kTestPackedSchema = {
    "TestPacked", kPackedIn, 2, kFloatOut, 1, nullptr, 0};
constexpr OpSchema kTestSplitSchema = {"TestSplit", kFloatIn, 1, kFloatsOut,
                                       1,           nullptr,  0};

constexpr OpSchema kTestJoinSchema = {"TestJoin", kManyIn, 1, kFloatOut,
                                      1,          nullptr, 0};

constexpr auto kSuccess = MaceStatus::MACE_SUCCESS;

// Output 0 like input 0.
class SameShapeOp : public Op {
 public:
  MaceStatus Init(InitContext *) override { return kSuccess; }
  MaceStatus Reshape(ReshapeContext *context) override {
    context->SetOutput(0, context->input(0)->shape,
                       context->input(0)->data_type);
    return kSuccess;
  }
};

class TestAffine final : public SameShapeOp {
 public:
  MaceStatus Init(InitContext *context) override {
    AttributeReader reader(context->def());
    reader.Float("scale", false, &scale_);
    reader.Float("offset", false, &offset_);
    winograd_ = context->hints().winograd;
    // As an op that transforms a constant at load.
    prepared_ = static_cast<float *>(context->AllocatePrepared(sizeof(float)));
    if (prepared_ == nullptr) return OutOfResources("no memory to prepare");
    *prepared_ = offset_;
    return reader.status();
  }
  MaceStatus Reshape(ReshapeContext *context) override {
    context->AllowInPlace(0, 0);
    context->AllowStridedInput(0);
    context->AllowStridedOutput(0);
    return SameShapeOp::Reshape(context);
  }
  MaceStatus Run(RunContext *context) override {
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
  int64_t Macs() const override { return 7; }
  std::string KernelName() const override {
    return winograd_ == 0 ? "affine" : MakeString("affine", winograd_);
  }

 private:
  int winograd_ = 0;
  float scale_ = 1;
  float offset_ = 0;
  float *prepared_ = nullptr;
};

class TestAdd final : public SameShapeOp {
 public:
  MaceStatus Reshape(ReshapeContext *context) override {
    if (context->input(0)->shape != context->input(1)->shape) {
      return InvalidArgs("shapes ", context->input(0)->shape.ToString(),
                         " and ", context->input(1)->shape.ToString(),
                         " differ");
    }
    context->AllowInPlace(0, 0);
    context->AllowInPlace(0, 1);
    return SameShapeOp::Reshape(context);
  }
  MaceStatus Run(RunContext *context) override {
    const auto *x = context->input(0)->As<float>();
    const auto *y = context->input(1)->As<float>();
    auto *z = context->output(0)->MutableAs<float>();
    const int64_t count = context->output(0)->elements();
    for (int64_t i = 0; i < count; ++i) z[i] = x[i] + y[i];
    return kSuccess;
  }
};

class TestCumulative final : public SameShapeOp {
 public:
  MaceStatus Reshape(ReshapeContext *context) override {
    context->RequestScratch(static_cast<size_t>(context->input(0)->bytes()));
    // As an op that transforms a constant when it knows shapes.
    if (start_ == nullptr) {
      context->RequestPrepared(sizeof(float), [this](void *memory) {
        if (memory == nullptr) return OutOfResources("no memory to prepare");
        start_ = static_cast<float *>(memory);
        *start_ = 0;
        return MaceStatus();
      });
    }
    return SameShapeOp::Reshape(context);
  }
  MaceStatus Run(RunContext *context) override {
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

class TestShape final : public Op {
 public:
  MaceStatus Init(InitContext *) override { return kSuccess; }
  MaceStatus Reshape(ReshapeContext *context) override {
    context->SetOutput(0,
                       {static_cast<int64_t>(context->input(0)->shape.rank())},
                       DataType::kInt32);
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) override {
    auto *y = context->output(0)->MutableAs<int32_t>();
    for (int64_t dim : context->input(0)->shape) {
      *y++ = static_cast<int32_t>(dim);
    }
    return kSuccess;
  }
  bool DependsOnShapesOnly() const override { return true; }
};

class TestDouble final : public SameShapeOp {
 public:
  MaceStatus Run(RunContext *context) override {
    const Tensor *x = context->input(0);
    auto *y = context->output(0)->MutableAs<int32_t>();
    for (int64_t i = 0; i < x->elements(); ++i) y[i] = 2 * x->As<int32_t>()[i];
    return kSuccess;
  }
};

class TestFill final : public Op {
 public:
  MaceStatus Init(InitContext *context) override {
    AttributeReader reader(context->def());
    reader.Float("value", false, &value_);
    return reader.status();
  }
  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor *dims = context->input(0);
    if (dims->data == nullptr) {
      return Unsupported("its shape must be known before the run");
    }
    Shape shape;
    for (int64_t i = 0; i < dims->elements(); ++i) {
      shape.Append(dims->As<int32_t>()[i]);
    }
    context->SetOutput(0, shape, DataType::kFloat32);
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) override {
    auto *y = context->output(0)->MutableAs<float>();
    std::fill(y, y + context->output(0)->elements(), value_);
    return kSuccess;
  }

 private:
  float value_ = 0;
};

class TestReciprocal final : public SameShapeOp {
 public:
  MaceStatus Run(RunContext *context) override {
    const Tensor *x = context->input(0);
    auto *y = context->output(0)->MutableAs<float>();
    for (int64_t i = 0; i < x->elements(); ++i) y[i] = 1 / x->As<float>()[i];
    return kSuccess;
  }
};

class TestReject final : public SameShapeOp {
 public:
  MaceStatus Init(InitContext *context) override {
    AttributeReader reader(context->def());
    reader.String("step", true, &step_);
    MACE_RETURN_IF_ERROR(reader.status());
    return Fail("init");
  }
  MaceStatus Reshape(ReshapeContext *context) override {
    if (step_ == "type") {
      context->SetOutput(0, {1}, DataType::kInt8);
      return kSuccess;
    }
    if (step_ == "shape") {
      context->SetOutput(0, {1, -5}, DataType::kFloat32);
      return kSuccess;
    }
    if (step_ == "size") {
      context->SetOutput(0, {int64_t{1} << 40}, DataType::kFloat32);
      return kSuccess;
    }
    MACE_RETURN_IF_ERROR(Fail("reshape"));
    return SameShapeOp::Reshape(context);
  }
  MaceStatus Run(RunContext *) override { return Fail("run"); }

 private:
  MaceStatus Fail(const char *step) const {
    if (step_ != step) return kSuccess;
    return Unsupported("it was told to fail");
  }
  std::string step_;
};

class TestPacked final : public SameShapeOp {
 public:
  MaceStatus Run(RunContext *context) override {
    std::memcpy(context->output(0)->data, context->input(0)->data,
                static_cast<size_t>(context->input(0)->bytes()));
    return kSuccess;
  }
};

class TestJoin final : public Op {
 public:
  MaceStatus Init(InitContext *) override { return kSuccess; }
  MaceStatus Reshape(ReshapeContext *context) override {
    Shape shape = context->input(0)->shape;
    int64_t &width = shape[shape.rank() - 1];
    width = 0;
    for (size_t i = 0; i < context->input_count(); ++i) {
      width += context->input(i)->shape.back();
    }
    PartPlace place;
    place.stride = width;
    for (size_t i = 0; i < context->input_count(); ++i) {
      place.run = context->input(i)->shape.back();
      context->AllowPart(0, i, place);
      context->AllowStridedInput(i);
      place.offset += place.run;
    }
    context->AllowStridedOutput(0);
    context->SetOutput(0, shape, DataType::kFloat32);
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) override {
    Tensor *output = context->output(0);
    auto *y = output->MutableAs<float>();
    for (size_t i = 0; i < context->input_count(); ++i) {
      const Tensor *input = context->input(i);
      const auto *x = input->As<float>();
      const int64_t width = input->shape.back();
      for (int64_t row = 0; x != y && row < input->elements() / width; ++row) {
        std::copy(x + row * input->RowStride(),
                  x + row * input->RowStride() + width,
                  y + row * output->RowStride());
      }
      y += width;
    }
    return kSuccess;
  }
};

class TestSplit final : public Op {
 public:
  MaceStatus Init(InitContext *) override { return kSuccess; }
  MaceStatus Reshape(ReshapeContext *context) override {
    Shape shape = context->input(0)->shape;
    const auto parts = static_cast<int64_t>(context->output_count());
    if (shape.rank() == 0 || shape.back() % parts != 0) {
      return InvalidArgs("can't split");
    }
    shape[shape.rank() - 1] /= parts;
    for (size_t i = 0; i < context->output_count(); ++i) {
      context->SetOutput(i, shape, DataType::kFloat32);
    }
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) override {
    const Tensor *x = context->input(0);
    const auto parts = static_cast<int64_t>(context->output_count());
    const int64_t width = x->shape.back() / parts;
    for (int64_t part = 0; part < parts; ++part) {
      auto *y = context->output(static_cast<size_t>(part))->MutableAs<float>();
      for (int64_t i = 0; i < x->elements() / parts; ++i) {
        y[i] = x->As<float>()[i / width * width * parts + part * width +
                              i % width];
      }
    }
    return kSuccess;
  }
};

class TestCpu final : public Device {
 public:
  DeviceType type() const override { return CPU; }
};

MACE_REGISTER_OP(TestAffine, CPU, TestAffine);
MACE_REGISTER_OP(TestAdd, CPU, TestAdd);
MACE_REGISTER_OP(TestCumulative, CPU, TestCumulative);
MACE_REGISTER_OP(TestShape, CPU, TestShape);
MACE_REGISTER_OP(TestDouble, CPU, TestDouble);
MACE_REGISTER_OP(TestFill, CPU, TestFill);
MACE_REGISTER_OP(TestReciprocal, CPU, TestReciprocal);
MACE_REGISTER_OP(TestReject, CPU, TestReject);
MACE_REGISTER_OP(TestPacked, CPU, TestPacked);
MACE_REGISTER_OP(TestJoin, CPU, TestJoin);
MACE_REGISTER_OP(TestSplit, CPU, TestSplit);
// Known to the library, but not for the CPU.
constexpr OpSchema kTestGpuOnlySchema = {"TestGpuOnly", kAnyIn, 1, kIntOut, 1,
                                         nullptr,       0};
MACE_REGISTER_OP(TestGpuOnly, GPU, TestShape);

// As a library with some operators only has it.
constexpr const char *kAllTypes[] = {"TestAffine", "TestLeftOut",
                                     "TestMissing"};
const OpSelection selection(kAllTypes, 3);

const DeviceRegistration cpu(CPU, []() -> Result<std::unique_ptr<Device>> {
  return std::unique_ptr<Device>(std::make_unique<TestCpu>());
});

}  // namespace
}  // namespace core_test
}  // namespace mace
