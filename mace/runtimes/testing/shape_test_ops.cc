// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators for tests of values that are known before the run, and of shapes
// that only the run determines:
//
//   TestShape(x): the shape of x as int32, known before the run
//   TestDouble(i): 2 * i for int32
//   TestFill(shape): a tensor of that shape, which must be known before the
//       run, filled with the attribute `value`
//   TestPositive(x): the positive elements of x, as many as the run finds
//   TestGpuOnly: TestShape, on the GPU alone

#include <algorithm>
#include <memory>

#include "mace/core/model/attribute_reader.h"
#include "mace/runtimes/testing/test_op.h"

namespace mace {
namespace core_test {
namespace {

constexpr PortSchema kIntIn[] = {Port("i", kInt)};

constexpr char kFillAttributes[] = "fvalue";

struct TestFillAttributes : OpAttributes {
  MaceStatus Parse(const OperatorDef &def) {
    AttributeReader reader(def);
    reader.Float("value", false, &value);
    return reader.status();
  }

  float value = 0;
};

MaceStatus ShapeShapes(const OpAttributes &, ShapeContext *context) {
  context->SetOutput(0, {static_cast<int64_t>(context->input(0)->shape.rank())},
                     DataType::kInt32);
  return kSuccess;
}

MaceStatus FillShapes(const TestFillAttributes &, ShapeContext *context) {
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

constexpr OpSchema FromShapesOnly(OpSchema schema) {
  schema.depends_on_shapes_only = true;
  return schema;
}

constexpr OpSchema kTestShapeSchema = FromShapesOnly(
    WithShapes<ShapeShapes>({"TestShape", kAnyIn, 1, kIntOut, 1, nullptr, 0}));
constexpr OpSchema kTestDoubleSchema =
    WithShapes<SameShape>({"TestDouble", kIntIn, 1, kIntOut, 1, nullptr, 0});
constexpr OpSchema kTestFillSchema = WithShapes<TestFillAttributes, FillShapes>(
    {"TestFill", kIntIn, 1, kFloatOut, 1, kFillAttributes, 1});
constexpr OpSchema kTestGpuOnlySchema = FromShapesOnly(WithShapes<ShapeShapes>(
    {"TestGpuOnly", kAnyIn, 1, kIntOut, 1, nullptr, 0}));

MaceStatus PositiveShapes(const OpAttributes &, ShapeContext *context) {
  context->SetOutput(0, {context->input(0)->elements()}, DataType::kFloat32);
  return kSuccess;
}
constexpr OpSchema kTestPositiveSchema = WithShapes<PositiveShapes>(
    {"TestPositive", kFloatIn, 1, kFloatOut, 1, nullptr, 0});

struct PositivePlan final : OpPlan {
  mutable Shape shape = {0};
};

class TestPositive final : public CpuOp {
 public:
  MaceStatus Plan(PlanContext *context) override {
    context->Keep(std::make_unique<PositivePlan>());
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) const override {
    const Tensor *x = context->input(0);
    Tensor *output = context->output(0);
    Shape &shape = context->PlanAs<PositivePlan>().shape;
    shape[0] = 0;
    for (int64_t i = 0; i < x->elements(); ++i) {
      const float value = x->As<float>()[i];
      if (value > 0) output->MutableAs<float>()[shape[0]++] = value;
    }
    output->run_shape = &shape;
    return kSuccess;
  }
};

class TestShape final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
    auto *y = context->output(0)->MutableAs<int32_t>();
    for (int64_t dim : context->input(0)->shape) {
      *y++ = static_cast<int32_t>(dim);
    }
    return kSuccess;
  }
};

class TestDouble final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
    const Tensor *x = context->input(0);
    auto *y = context->output(0)->MutableAs<int32_t>();
    for (int64_t i = 0; i < x->elements(); ++i) y[i] = 2 * x->As<int32_t>()[i];
    return kSuccess;
  }
};

class TestFill final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    value_ = context->AttributesAs<TestFillAttributes>().value;
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) const override {
    auto *y = context->output(0)->MutableAs<float>();
    std::fill(y, y + context->output(0)->elements(), value_);
    return kSuccess;
  }

 private:
  float value_ = 0;
};

MACE_REGISTER_OP(TestShape, CPU, TestShape);
MACE_REGISTER_OP(TestDouble, CPU, TestDouble);
MACE_REGISTER_OP(TestFill, CPU, TestFill);
MACE_REGISTER_OP(TestPositive, CPU, TestPositive);
// Registered, but not for the CPU.
MACE_REGISTER_OP(TestGpuOnly, GPU, TestShape);

}  // namespace
}  // namespace core_test
}  // namespace mace
