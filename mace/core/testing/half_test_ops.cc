// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators of float16 for tests of the engine:
//
//   TestHalf(x, y?) = 2 * x + y, in float16, by ports declared float32
//   TestMove(xs...): the first of them as it is; all must be of one type
//   Cast(x): as the engine needs it

#include <cstring>
#include <string>

#include "mace/core/attribute_reader.h"
#include "mace/core/half.h"
#include "mace/core/op.h"

namespace mace {
namespace core_test {
namespace {

constexpr uint32_t kFloat = DataTypeBit(DataType::kFloat32);
constexpr uint32_t kHalf = DataTypeBit(DataType::kFloat16);
constexpr uint32_t kInt = DataTypeBit(DataType::kInt32);

constexpr PortSchema kHalfIn[] = {{"x", kFloat, false, false, false, false},
                                  {"y", kFloat, true, false, false, false}};
constexpr PortSchema kFloatOut[] = {
    {"output", kFloat, false, false, false, false}};
constexpr PortSchema kMoveIn[] = {
    {"xs", kFloat | kInt, false, false, false, true}};
constexpr PortSchema kMoveOut[] = {
    {"output", kFloat | kInt, false, false, false, false}};
constexpr PortSchema kCastIn[] = {
    {"input", kFloat | kHalf, false, false, false, false}};
constexpr PortSchema kCastOut[] = {
    {"output", kFloat | kHalf, false, false, false, false}};
constexpr AttributeSchema kCastAttributes[] = {{"to", AttributeKind::kString}};

constexpr OpSchema kTestHalfSchema = {"TestHalf", kHalfIn, 2, kFloatOut,
                                      1,          nullptr, 0};
constexpr OpSchema kTestMoveSchema = {"TestMove", kMoveIn, 1, kMoveOut,
                                      1,          nullptr, 0};
constexpr OpSchema kCastSchema = {"Cast", kCastIn,         1, kCastOut,
                                  1,      kCastAttributes, 1};

constexpr auto kSuccess = MaceStatus::MACE_SUCCESS;

class TestHalf final : public Op {
 public:
  MaceStatus Init(InitContext *) override { return kSuccess; }
  HalfUse half_use() const override { return HalfUse::kComputes; }
  MaceStatus Reshape(ReshapeContext *context) override {
    context->SetOutput(0, context->input(0)->shape, DataType::kFloat16);
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) override {
    const Tensor *x = context->input(0);
    const Tensor *y = context->input_count() > 1 ? context->input(1) : nullptr;
    auto *output = context->output(0)->MutableAs<uint16_t>();
    for (int64_t i = 0; i < x->elements(); ++i) {
      float value = 2 * HalfToFloat(x->As<uint16_t>()[i]);
      if (y != nullptr) value += HalfToFloat(y->As<uint16_t>()[i]);
      output[i] = FloatToHalf(value);
    }
    return kSuccess;
  }
};

class TestMove final : public Op {
 public:
  MaceStatus Init(InitContext *) override { return kSuccess; }
  HalfUse half_use() const override { return HalfUse::kFollows; }
  MaceStatus Reshape(ReshapeContext *context) override {
    for (size_t i = 1; i < context->input_count(); ++i) {
      if (context->input(i)->data_type != context->input(0)->data_type) {
        return InvalidArgs("inputs of several types");
      }
    }
    context->SetOutput(0, context->input(0)->shape,
                       context->input(0)->data_type);
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) override {
    std::memcpy(context->output(0)->data, context->input(0)->data,
                static_cast<size_t>(context->input(0)->bytes()));
    return kSuccess;
  }
};

class TestCast final : public Op {
 public:
  MaceStatus Init(InitContext *context) override {
    AttributeReader reader(context->def());
    std::string to;
    reader.String("to", true, &to);
    to_half_ = to == "FLOAT16";
    return reader.status();
  }
  MaceStatus Reshape(ReshapeContext *context) override {
    context->SetOutput(0, context->input(0)->shape,
                       to_half_ ? DataType::kFloat16 : DataType::kFloat32);
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) override {
    const Tensor *x = context->input(0);
    Tensor *y = context->output(0);
    for (int64_t i = 0; i < x->elements(); ++i) {
      if (to_half_) {
        y->MutableAs<uint16_t>()[i] = FloatToHalf(x->As<float>()[i]);
      } else {
        y->MutableAs<float>()[i] = HalfToFloat(x->As<uint16_t>()[i]);
      }
    }
    return kSuccess;
  }

 private:
  bool to_half_ = false;
};

MACE_REGISTER_OP(TestHalf, CPU, TestHalf);
MACE_REGISTER_OP(TestMove, CPU, TestMove);
MACE_REGISTER_OP(Cast, CPU, TestCast);

}  // namespace
}  // namespace core_test
}  // namespace mace
