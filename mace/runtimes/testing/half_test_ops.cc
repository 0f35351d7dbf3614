// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators of 16 bits for tests of the engine:
//
//   TestHalf(x, y?) = 2 * x + y, in float16 or, where the model asks for it,
//       bfloat16, by ports declared float32
//   TestNarrow(x, y?): the same, and takes float32 as its x too
//   TestMove(xs...): the first of them as it is; all must be of one type, but
//       a second one that is constant
//   Cast(x): as the engine needs it

#include <cstring>
#include <string_view>

#include "mace/core/base/half.h"
#include "mace/core/model/attribute_reader.h"
#include "mace/runtimes/testing/test_op.h"

namespace mace {
namespace core_test {
namespace {

constexpr uint32_t kHalf =
    DataTypeBit(DataType::kFloat16) | DataTypeBit(DataType::kBfloat16);

constexpr PortSchema kHalfIn[] = {
    Port("x", kFloat), {"y", kFloat, 0, true, false, kPlainLayout, false}};
constexpr PortSchema kMoveIn[] = {
    {"xs", kFloat | kInt, 0, false, false, kPlainLayout, true}};
constexpr PortSchema kMoveOut[] = {Port("output", kFloat | kInt)};
constexpr PortSchema kCastIn[] = {Port("input", kFloat | kHalf)};
constexpr PortSchema kCastOut[] = {Port("output", kFloat | kHalf)};
constexpr char kCastAttributes[] = "sto";

// The operators compute in 16 bits on every processor: they need no kernels.
constexpr OpSignature Signature(bool follows_inputs,
                                uint32_t float32_inputs,
                                uint32_t float32_constants) {
  return {CPU,
          kHalf,
          follows_inputs,
          float32_inputs,
          float32_constants,
          nullptr,
          nullptr,
          0,
          nullptr,
          0};
}
constexpr OpSignature kHalfSignatures[] = {Signature(false, 0, 0)};
constexpr OpSignature kNarrowSignatures[] = {Signature(false, 1u << 0, 0)};
constexpr OpSignature kMoveSignatures[] = {Signature(true, 0, 1u << 1)};

struct TestCastAttributes : OpAttributes {
  MaceStatus Parse(const OperatorDef &def) {
    AttributeReader reader(def);
    std::string_view name;
    reader.String("to", true, &name);
    to = name == "FLOAT16"    ? DataType::kFloat16
         : name == "BFLOAT16" ? DataType::kBfloat16
                              : DataType::kFloat32;
    return reader.status();
  }

  DataType to = DataType::kUnknown;
};

MaceStatus HalfShapes(const OpAttributes &, ShapeContext *context) {
  context->SetOutput(0, context->input(0)->shape, DataType::kFloat32);
  return kSuccess;
}

MaceStatus MoveShapes(const OpAttributes &, ShapeContext *context) {
  for (size_t i = 1; i < context->input_count(); ++i) {
    if (i == 1 && context->input(i)->is_constant) continue;
    if (context->input(i)->data_type != context->input(0)->data_type) {
      return InvalidArgs("inputs of several types");
    }
  }
  context->SetOutput(0, context->input(0)->shape, context->input(0)->data_type);
  return kSuccess;
}

MaceStatus CastShapes(const TestCastAttributes &attributes,
                      ShapeContext *context) {
  context->SetOutput(0, context->input(0)->shape, attributes.to);
  return kSuccess;
}

constexpr OpSchema kTestHalfSchema = WithShapes<HalfShapes>(
    {"TestHalf", kHalfIn, 2, kFloatOut, 1, nullptr, 0, kHalfSignatures, 1});
constexpr OpSchema kTestNarrowSchema = WithShapes<HalfShapes>(
    {"TestNarrow", kHalfIn, 2, kFloatOut, 1, nullptr, 0, kNarrowSignatures, 1});
constexpr OpSchema kTestMoveSchema = WithShapes<MoveShapes>(
    {"TestMove", kMoveIn, 1, kMoveOut, 1, nullptr, 0, kMoveSignatures, 1});
constexpr OpSchema kCastSchema = WithShapes<TestCastAttributes, CastShapes>(
    {"Cast", kCastIn, 1, kCastOut, 1, kCastAttributes, 1});

uint16_t Narrow(DataType type, float value) {
  return type == DataType::kBfloat16 ? FloatToBfloat16(value)
                                     : FloatToHalf(value);
}

float At(const Tensor &x, int64_t i) {
  if (x.data_type == DataType::kFloat32) return x.As<float>()[i];
  const uint16_t bits = x.As<uint16_t>()[i];
  return x.data_type == DataType::kBfloat16 ? Bfloat16ToFloat(bits)
                                            : HalfToFloat(bits);
}

class TestHalf final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
    const Tensor *x = context->input(0);
    const Tensor *y = context->input(1);
    auto *output = context->output(0)->MutableAs<uint16_t>();
    for (int64_t i = 0; i < x->elements(); ++i) {
      float value = 2 * At(*x, i);
      if (y != nullptr) value += At(*y, i);
      output[i] = Narrow(float_type(), value);
    }
    return kSuccess;
  }
};

class TestMove final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
    std::memcpy(context->output(0)->data, context->input(0)->data,
                static_cast<size_t>(context->input(0)->bytes()));
    return kSuccess;
  }
};

class TestCast final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    to_ = context->AttributesAs<TestCastAttributes>().to;
    return kSuccess;
  }
  MaceStatus Run(RunContext *context) const override {
    const Tensor *x = context->input(0);
    Tensor *y = context->output(0);
    for (int64_t i = 0; i < x->elements(); ++i) {
      if (to_ != DataType::kFloat32) {
        y->MutableAs<uint16_t>()[i] = Narrow(to_, At(*x, i));
      } else {
        y->MutableAs<float>()[i] = At(*x, i);
      }
    }
    return kSuccess;
  }

 private:
  DataType to_ = DataType::kUnknown;
};

MACE_REGISTER_OP(TestHalf, CPU, TestHalf);
MACE_REGISTER_OP(TestNarrow, CPU, TestHalf);
MACE_REGISTER_OP(TestMove, CPU, TestMove);
MACE_REGISTER_OP(Cast, CPU, TestCast);

}  // namespace
}  // namespace core_test
}  // namespace mace
