// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators for tests of strided rows, and of parts computed in place:
//
//   TestJoin(xs...): joined along the last axis; rows may be apart
//   TestSplit(x): equal parts of the last dimension, as many as there are
//       outputs

#include <algorithm>

#include "mace/runtimes/testing/test_op.h"

namespace mace {
namespace core_test {
namespace {

constexpr PortSchema kManyIn[] = {
    {"xs", kFloat, 0, false, false, kPlainLayout, true}};
constexpr PortSchema kFloatsOut[] = {
    {"outputs", kFloat, 0, false, false, kPlainLayout, true}};

MaceStatus JoinShapes(const OpAttributes &, ShapeContext *context) {
  Shape shape = context->input(0)->shape;
  int64_t &width = shape[shape.rank() - 1];
  width = 0;
  for (size_t i = 0; i < context->input_count(); ++i) {
    width += context->input(i)->shape.back();
  }
  context->SetOutput(0, shape, DataType::kFloat32);
  return kSuccess;
}

MaceStatus SplitShapes(const OpAttributes &, ShapeContext *context) {
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

constexpr OpSchema kTestJoinSchema =
    WithShapes<JoinShapes>({"TestJoin", kManyIn, 1, kFloatOut, 1, nullptr, 0});
constexpr OpSchema kTestSplitSchema = WithShapes<SplitShapes>(
    {"TestSplit", kFloatIn, 1, kFloatsOut, 1, nullptr, 0});

class TestJoin final : public CpuOp {
 public:
  MaceStatus Plan(PlanContext *context) override {
    PartPlace place;
    place.stride = context->output(0)->shape.back();
    for (size_t i = 0; i < context->input_count(); ++i) {
      place.run = context->input(i)->shape.back();
      context->AllowPart(0, i, place);
      context->AllowStridedInput(i);
      place.offset += place.run;
    }
    context->AllowStridedOutput(0);
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) const override {
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

class TestSplit final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
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

MACE_REGISTER_OP(TestJoin, CPU, TestJoin);
MACE_REGISTER_OP(TestSplit, CPU, TestSplit);

}  // namespace
}  // namespace core_test
}  // namespace mace
