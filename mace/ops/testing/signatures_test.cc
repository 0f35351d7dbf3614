// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tests the types in which the operators of a whole library read and write
// floats, on every instruction set with such arithmetic: declarations,
// conditions and kernels together. Nothing runs, so the processor need not
// support it.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/model/op_signature.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/testing/fake_contexts.h"
#include "mace/ops/testing/op_case.h"

namespace mace {
namespace {

using op_test::OpCase;
using op_test::Value;

enum class Stores { kFloat32, kFollows, kComputes };

Stores After(const OpCase &op_case, CpuIsa isa, Precision precision) {
  const OpRegistration *registration =
      OpRegistration::Find(op_case.def.type, CPU);
  if (registration == nullptr) {
    ADD_FAILURE() << op_case.def.type << " is not linked in";
    return Stores::kFloat32;
  }
  std::vector<Tensor> tensors(op_case.inputs.size());
  op_test::Buffers constants;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const op_test::CaseInput &input = op_case.inputs[i];
    tensors[i].data_type = input.value.data_type;
    tensors[i].shape = input.value.shape;
    tensors[i].layout = input.layout;
    tensors[i].groups = input.groups;
    tensors[i].is_constant = input.kind == op_test::CaseInput::Kind::kConstant;
    constants.push_back(
        std::make_unique<op_test::GuardedBuffer>(input.value.bytes.size()));
    std::copy(input.value.bytes.begin(), input.value.bytes.end(),
              constants.back()->data());
    tensors[i].data = constants.back()->data();
  }
  DeploymentHints hints;
  hints.precision = precision;
  const std::unique_ptr<ThreadPool> pool = ThreadPool::Create(1, AFFINITY_NONE);
  if (pool == nullptr) {
    ADD_FAILURE() << "no threads";
    return Stores::kFloat32;
  }
  op_test::Buffers prepared;
  ParsedAttributes attributes;
  const MaceStatus parsed =
      attributes.Parse(*registration->schema(), op_case.def);
  EXPECT_EQ(parsed.code(), MaceStatus::MACE_SUCCESS) << parsed.information();
  op_test::FakeInitContext context(op_case.def, attributes.get(), tensors,
                                   op_case.inputs, hints, isa, pool.get(),
                                   &prepared);
  const std::unique_ptr<Op> op = registration->factory()();
  auto *cpu_op = static_cast<CpuOp *>(op.get());
  const MaceStatus status = cpu_op->Init(*registration->schema(), &context);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  const OpSignature *signature = cpu_op->signature();
  if (signature == nullptr) return Stores::kFloat32;
  return signature->follows_inputs ? Stores::kFollows : Stores::kComputes;
}

// The instruction sets with arithmetic of that precision.
std::vector<CpuIsa> Having(Precision precision) {
  std::vector<CpuIsa> isas;
  for (CpuIsa isa : {
#define MACE_ISA_ENTRY(name, base) CpuIsa::name,
           MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_ENTRY)
#undef MACE_ISA_ENTRY
       }) {
    const bool has =
        precision == Precision::kFloat16 ? HasFp16(isa) : HasBf16(isa);
    if (has) isas.push_back(isa);
  }
  return isas;
}

// Expects these types for each precision if the instruction set has the
// arithmetic, and none for float32.
void ExpectStores(const OpCase &op_case, Stores fp16, Stores bf16) {
  SCOPED_TRACE(op_case.def.type);
  for (CpuIsa isa : Having(Precision::kFloat16)) {
    EXPECT_EQ(After(op_case, isa, Precision::kFloat16), fp16)
        << CpuIsaName(isa);
    EXPECT_EQ(After(op_case, isa, Precision::kFloat32), Stores::kFloat32);
  }
  for (CpuIsa isa : Having(Precision::kBfloat16)) {
    EXPECT_EQ(After(op_case, isa, Precision::kBfloat16), bf16)
        << CpuIsaName(isa);
    EXPECT_EQ(After(op_case, isa, Precision::kFloat32), Stores::kFloat32);
  }
}

Value Zeros(const Shape &shape) {
  return Value::Floats(
      shape, std::vector<float>(static_cast<size_t>(shape.Elements())));
}

const Shape kImage = {1, 4, 4, 8};

OpCase Conv() { return OpCase("Conv2D").Input(Zeros(kImage)); }
Value Filter() { return Zeros({16, 1, 1, 8}); }
Value Weights() { return Zeros({16, 8}); }

TEST(SignaturesTest, ProductsComputeInTheTypeOfTheirWeights) {
  constexpr auto kFloat32 = Stores::kFloat32;
  constexpr auto kComputes = Stores::kComputes;
  const auto half = DataType::kFloat16;
  ExpectStores(Conv().Packed(Filter(), 1, half), kComputes, kFloat32);
  ExpectStores(Conv().PackedPairs(Filter(), 1), kFloat32, kComputes);
  ExpectStores(Conv().Packed(Filter(), 1), kFloat32, kFloat32);
  ExpectStores(Conv().Packed(Filter(), 1, DataType::kBfloat16), kFloat32,
               kFloat32);
  ExpectStores(Conv().PackedScaled(Filter(), 1), kFloat32, kFloat32);
  const auto matrix = [] {
    return OpCase("FullyConnected").Input(Zeros({2, 8}));
  };
  ExpectStores(matrix().Packed(Weights(), 1, half), kComputes, kFloat32);
  ExpectStores(matrix().PackedPairs(Weights(), 1), kFloat32, kComputes);
  ExpectStores(matrix().Packed(Weights(), 1), kFloat32, kFloat32);
}

TEST(SignaturesTest, OthersComputeInAnyOrFollow) {
  constexpr auto kFollows = Stores::kFollows;
  ExpectStores(OpCase("DepthwiseConv2d")
                   .Input(Zeros(kImage))
                   .Constant(Zeros({3, 3, 8, 1})),
               Stores::kComputes, Stores::kComputes);
  ExpectStores(OpCase("Pooling").Input(Zeros(kImage)).Ints("kernels", {2, 2}),
               kFollows, kFollows);
  ExpectStores(OpCase("Concat").Input(Zeros(kImage)).Int("axis", 3), kFollows,
               kFollows);
  ExpectStores(OpCase("Softmax").Input(Zeros(kImage)), Stores::kFloat32,
               kFollows);
  ExpectStores(OpCase("Resize").Input(Zeros(kImage)).Ints("size", {8, 8}),
               kFollows, kFollows);
  ExpectStores(OpCase("MatMul").Input(Zeros({2, 8})).Input(Zeros({8, 3})),
               Stores::kFloat32, Stores::kComputes);
  ExpectStores(OpCase("Reduce").Input(Zeros(kImage)).String("mode", "MEAN"),
               Stores::kFloat32, Stores::kFloat32);
}

TEST(SignaturesTest, AttributesDecideWhoFollows) {
  constexpr auto kFollows = Stores::kFollows;
  constexpr auto kFloat32 = Stores::kFloat32;
  const auto eltwise = [](const char *mode) {
    return OpCase("Eltwise")
        .Input(Zeros(kImage))
        .Input(Zeros(kImage))
        .String("mode", mode);
  };
  ExpectStores(eltwise("ADD"), kFollows, kFollows);
  ExpectStores(eltwise("LESS"), kFloat32, kFloat32);
  const auto blocks = [](const char *order, int64_t block) {
    return OpCase("DepthToSpace")
        .Input(Zeros(kImage))
        .String("order", order)
        .Int("block", block);
  };
  ExpectStores(blocks("DCR", 2), kFollows, kFollows);
  ExpectStores(blocks("CRD", 2), kFloat32, kFloat32);
  ExpectStores(blocks("CRD", 1), kFollows, kFollows);
}

}  // namespace
}  // namespace mace
