// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The code of an operator that devices share does not depend on any device:
// this program contains the schemas and shape functions of some rooms, but no
// implementation of any operator.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mace/ops/conv2d/conv2d_schema.h"
#include "mace/ops/softmax/softmax_schema.h"
#include "mace/ops/testing/fake_contexts.h"

namespace mace {
namespace {

Tensor Plain(const Shape &shape) {
  Tensor tensor;
  tensor.shape = shape;
  tensor.data_type = DataType::kFloat32;
  return tensor;
}

struct Inferred {
  MaceStatus status;
  op_test::OutputSpec output;
};

Inferred Infer(const OpSchema &schema,
               const OperatorDef &def,
               const std::vector<const Tensor *> &inputs) {
  ParsedAttributes attributes;
  Inferred inferred;
  inferred.status = attributes.Parse(schema, def);
  if (!IsOk(inferred.status)) return inferred;
  op_test::FakeShapeContext context(inputs, 1);
  inferred.status = schema.infer_shapes(attributes.get(), &context);
  inferred.output = context.outputs()[0];
  return inferred;
}

AttributeValue Ints(const char *name, const std::vector<int64_t> &values) {
  AttributeValue attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::kInts;
  attribute.ints = values;
  return attribute;
}

TEST(SharedTest, NoOperatorIsRegistered) {
  EXPECT_EQ(OpRegistration::first(), nullptr);
}

TEST(SharedTest, InfersShapes) {
  const Tensor input = Plain({2, 9, 7, 8});
  Tensor filter = Plain({16, 3, 3, 8});
  filter.is_constant = true;
  OperatorDef def;
  def.attributes = {Ints("strides", {2, 1})};
  const Inferred conv = Infer(kConv2DSchema, def, {&input, &filter});
  ASSERT_TRUE(IsOk(conv.status)) << conv.status.information();
  EXPECT_EQ(conv.output.shape, (Shape{2, 4, 5, 16}));

  const Inferred softmax = Infer(kSoftmaxSchema, OperatorDef(), {&input});
  ASSERT_TRUE(IsOk(softmax.status)) << softmax.status.information();
  EXPECT_EQ(softmax.output.shape, input.shape);
}

TEST(SharedTest, RefusesWhatNoDeviceCanCompute) {
  const Tensor input = Plain({2, 9, 7, 5});
  Tensor filter = Plain({16, 3, 3, 8});
  filter.is_constant = true;
  const Inferred channels =
      Infer(kConv2DSchema, OperatorDef(), {&input, &filter});
  EXPECT_EQ(channels.status.code(), MaceStatus::MACE_INVALID_ARGS);
  OperatorDef def;
  def.attributes = {Ints("strides", {2, 0})};
  const Inferred strides = Infer(kConv2DSchema, def, {&input, &filter});
  EXPECT_NE(strides.status.information().find("attribute 'strides'"),
            std::string::npos);
}

TEST(SharedTest, NoDeviceFusesPrelu) {
  const Tensor input = Plain({1, 5, 5, 8});
  Tensor filter = Plain({16, 3, 3, 8});
  filter.is_constant = true;
  OperatorDef def;
  AttributeValue activation;
  activation.name = "activation";
  activation.kind = AttributeKind::kString;
  activation.s = "PRELU";
  def.attributes = {activation};
  const Inferred conv = Infer(kConv2DSchema, def, {&input, &filter});
  EXPECT_EQ(conv.status.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_NE(conv.status.information().find("PRELU cannot be fused"),
            std::string::npos);
}

}  // namespace
}  // namespace mace
