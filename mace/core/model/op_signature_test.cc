// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/op_signature.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace mace {
namespace {

constexpr uint32_t kFp16 = DataTypeBit(DataType::kFloat16);
constexpr uint32_t kBf16 = DataTypeBit(DataType::kBfloat16);

constexpr ConstantCondition kHalfFilter[] = {{1, kFp16, kAnyLayout}};
constexpr ConstantCondition kPairs[] = {
    {1, kAnyType, LayoutBit(ConstantLayout::kPackedO16Pairs)}};
constexpr const char *const kWords[] = {"NEAREST", "FLOOR"};
constexpr int64_t kNumbers[] = {1, 2};
constexpr AttributeCondition kNearest[] = {
    {"mode", kWords, nullptr, 2, true, false}};
constexpr AttributeCondition kSmallBlock[] = {
    {"block", nullptr, kNumbers, 2, false, false}};
constexpr AttributeCondition kNotNearest[] = {
    {"mode", kWords, nullptr, 2, true, true}};

OpSignature Computes(uint32_t floats) {
  return {CPU, floats, false, 0, 0, nullptr, nullptr, 0, nullptr, 0};
}
OpSignature Follows(uint32_t float32_constants) {
  return {CPU,     kFp16,   true, 0,       float32_constants,
          nullptr, nullptr, 0,    nullptr, 0};
}

// The properties of an operator in a test.
class Facts final : public SignatureContext {
 public:
  Precision precision() const override { return asked; }
  const OperatorDef &def() const override { return op; }
  const Tensor *constant(size_t input) const override {
    const auto found = constants.find(input);
    return found == constants.end() ? nullptr : &found->second;
  }
  bool HasKernels(const char *family) const override {
    return family == kernels;
  }
  void Set(const AttributeValue &value) { op.attributes = {value}; }

  Precision asked = Precision::kFloat16;
  OperatorDef op;
  std::map<size_t, Tensor> constants;
  std::string kernels;
};

bool Holds(const OpSignature &signature,
           const Facts &facts,
           DeviceType device = CPU) {
  OpSchema schema = {};
  schema.signatures = &signature;
  schema.signature_count = 1;
  return FindSignature(schema, device, facts) != nullptr;
}

AttributeValue Word(const std::string &word) {
  AttributeValue value;
  value.name = "mode";
  value.kind = AttributeKind::kString;
  value.s = word;
  return value;
}

AttributeValue Number(int64_t number) {
  AttributeValue value;
  value.name = "block";
  value.kind = AttributeKind::kInt;
  value.i = number;
  return value;
}

TEST(OpSignatureTest, HoldsForItsDeviceAndTypes) {
  Facts facts;
  EXPECT_TRUE(Holds(Computes(kFp16), facts));
  EXPECT_TRUE(Holds(Computes(kFp16 | kBf16), facts));
  EXPECT_FALSE(Holds(Computes(kBf16), facts));
  EXPECT_FALSE(Holds(Computes(kFp16), facts, GPU));
  facts.asked = Precision::kFloat32;
  EXPECT_FALSE(Holds(Computes(kFp16 | kBf16), facts));
}

TEST(OpSignatureTest, HoldsWhereKernelsExist) {
  OpSignature signature = Computes(kFp16);
  signature.kernels = "gemm";
  Facts facts;
  EXPECT_FALSE(Holds(signature, facts));
  facts.kernels = "gemm";
  EXPECT_TRUE(Holds(signature, facts));
}

TEST(OpSignatureTest, HoldsForConstantsStoredAsItSays) {
  OpSignature half = Computes(kFp16);
  half.constants = kHalfFilter;
  half.constant_count = 1;
  OpSignature pairs = half;
  pairs.constants = kPairs;
  Facts facts;
  EXPECT_FALSE(Holds(half, facts));  // there is no such constant
  facts.constants[1].data_type = DataType::kFloat16;
  EXPECT_TRUE(Holds(half, facts));
  EXPECT_FALSE(Holds(pairs, facts));
  facts.constants[1].data_type = DataType::kBfloat16;
  EXPECT_FALSE(Holds(half, facts));
  facts.constants[1].layout = ConstantLayout::kPackedO16Pairs;
  EXPECT_TRUE(Holds(pairs, facts));
}

TEST(OpSignatureTest, HoldsForAttributes) {
  OpSignature nearest = Computes(kFp16);
  nearest.attributes = kNearest;
  nearest.attribute_count = 1;
  OpSignature other = nearest;
  other.attributes = kNotNearest;
  OpSignature block = nearest;
  block.attributes = kSmallBlock;
  Facts facts;
  // With default values.
  EXPECT_TRUE(Holds(nearest, facts));
  EXPECT_FALSE(Holds(other, facts));
  EXPECT_FALSE(Holds(block, facts));
  facts.Set(Word("FLOOR"));
  EXPECT_TRUE(Holds(nearest, facts));
  EXPECT_FALSE(Holds(other, facts));
  facts.Set(Word("LINEAR"));
  EXPECT_FALSE(Holds(nearest, facts));
  EXPECT_TRUE(Holds(other, facts));
  facts.Set(Number(2));
  EXPECT_TRUE(Holds(block, facts));
  facts.Set(Number(3));
  EXPECT_FALSE(Holds(block, facts));
}

TEST(OpSignatureTest, TheFirstThatHoldsCounts) {
  const OpSignature both[] = {Computes(kBf16), Follows(0), Computes(kFp16)};
  OpSchema schema = {};
  schema.signatures = both;
  schema.signature_count = 3;
  EXPECT_EQ(FindSignature(schema, CPU, Facts()), &both[1]);
}

constexpr FloatStorage kNone = FloatStorage::kNone;
constexpr FloatStorage kConstant = FloatStorage::kConstant;
constexpr FloatStorage kFloat32 = FloatStorage::kFloat32;
constexpr FloatStorage kOther = FloatStorage::kOther;

TEST(OpSignatureTest, WhoComputesDoesSoAlways) {
  const OpSignature signature = Computes(kFp16);
  EXPECT_TRUE(StoresOtherFloats(&signature, {kFloat32, kConstant}));
  EXPECT_TRUE(StoresOtherFloats(&signature, {}));
  EXPECT_FALSE(StoresOtherFloats(nullptr, {kOther}));
}

TEST(OpSignatureTest, WhoFollowsNeedsAllInputs) {
  const OpSignature signature = Follows(1u << 1);
  EXPECT_TRUE(StoresOtherFloats(&signature, {kOther, kNone, kOther}));
  EXPECT_FALSE(StoresOtherFloats(&signature, {kOther, kFloat32}));
  EXPECT_FALSE(StoresOtherFloats(&signature, {kNone, kNone}));
  // float32 constants, if these are accepted.
  EXPECT_TRUE(StoresOtherFloats(&signature, {kOther, kConstant}));
  EXPECT_FALSE(StoresOtherFloats(&signature, {kConstant, kOther}));
  EXPECT_FALSE(StoresOtherFloats(&signature, {kNone, kConstant}));
}

TEST(OpSignatureTest, TheLastBitStandsForAllThatFollow) {
  const OpSignature signature = Follows(1u << 31);
  std::vector<FloatStorage> inputs(40, kNone);
  inputs[0] = kOther;
  inputs[39] = kConstant;
  EXPECT_TRUE(StoresOtherFloats(&signature, inputs));
  inputs[30] = kConstant;
  EXPECT_FALSE(StoresOtherFloats(&signature, inputs));
}

TEST(OpSignatureTest, Float32IsHandedOverWhereItIsTaken) {
  OpSignature signature = Computes(kBf16);
  signature.float32_inputs = 1u << 0;
  EXPECT_EQ(WantedFloat(signature, 0, kFloat32), kFloat32);
  EXPECT_EQ(WantedFloat(signature, 0, kOther), kOther);
  EXPECT_EQ(WantedFloat(signature, 1, kFloat32), kOther);
}

}  // namespace
}  // namespace mace
