// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The ports of an operator type and the kinds of its attributes. Instances are
// generated from mace/ops/<op>/<op>.op.yaml. Every operator of a model is
// checked against them before an Op is created for it.

#ifndef MACE_CORE_MODEL_OP_SCHEMA_H_
#define MACE_CORE_MODEL_OP_SCHEMA_H_

#include <cstddef>
#include <cstdint>

namespace mace {

enum class AttributeKind : uint8_t { kInt, kFloat, kString, kInts, kFloats };

struct PortSchema {
  const char *name;
  // Bit (1 << DataType) for each element type the port takes.
  uint32_t data_types;
  bool optional;
  // Must be a constant of the model.
  bool constant;
  // Constant must have layout PACKED_O16.
  bool packed;
  // Last port only: stands for one or more tensors.
  bool variadic;
};

struct AttributeSchema {
  const char *name;
  AttributeKind kind;
};

struct OpSignature;  // op_signature.h

struct OpSchema {
  const char *type;
  const PortSchema *inputs;
  size_t input_count;
  const PortSchema *outputs;
  size_t output_count;
  const AttributeSchema *attributes;
  size_t attribute_count;
  // Of all devices, in order of preference.
  const OpSignature *signatures = nullptr;
  size_t signature_count = 0;
};

// The port schema for position `index`; a variadic port is the last.
inline const PortSchema &PortSchemaAt(const PortSchema *ports,
                                      size_t count,
                                      size_t index) {
  return ports[index < count ? index : count - 1];
}

}  // namespace mace

#endif  // MACE_CORE_MODEL_OP_SCHEMA_H_
