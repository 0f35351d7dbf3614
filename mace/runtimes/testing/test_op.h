// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Declarations for the operators of these tests.

#ifndef MACE_RUNTIMES_TESTING_TEST_OP_H_
#define MACE_RUNTIMES_TESTING_TEST_OP_H_

#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {
namespace core_test {

inline constexpr uint16_t kFloat = DataTypeBit(DataType::kFloat32);
inline constexpr uint16_t kInt = DataTypeBit(DataType::kInt32);

// A required port of one tensor.
constexpr PortSchema Port(const char *name, uint16_t types) {
  return {name, types, 0, false, false, kPlainLayout, false};
}

inline constexpr PortSchema kFloatIn[] = {Port("x", kFloat)};
inline constexpr PortSchema kFloatOut[] = {Port("output", kFloat)};
inline constexpr PortSchema kAnyIn[] = {Port("x", kFloat | kInt)};
inline constexpr PortSchema kIntOut[] = {Port("output", kInt)};

inline constexpr auto kSuccess = MaceStatus::MACE_SUCCESS;

// The schema with attributes of type A and that shape function.
template <typename A, MaceStatus (*kInfer)(const A &, ShapeContext *)>
constexpr OpSchema WithShapes(OpSchema schema) {
  schema.attributes_size = sizeof(A);
  schema.parse_attributes = &ParseAttributes<A>;
  schema.infer_shapes = &CallShapeFunction<A, kInfer>;
  return schema;
}
// The same for an operator without attributes.
template <MaceStatus (*kInfer)(const OpAttributes &, ShapeContext *)>
constexpr OpSchema WithShapes(OpSchema schema) {
  schema.infer_shapes = kInfer;
  return schema;
}

// Output 0 has the shape and type of input 0.
inline MaceStatus SameShape(const OpAttributes &, ShapeContext *context) {
  context->SetOutput(0, context->input(0)->shape, context->input(0)->data_type);
  return kSuccess;
}

}  // namespace core_test
}  // namespace mace

#endif  // MACE_RUNTIMES_TESTING_TEST_OP_H_
