// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator type is on every device: its ports, its attributes and its
// shape function. Instances are generated from mace/ops/<op>/<op>.op.yaml; the
// shape function is written in <op>.cc. Every operator of a model is checked
// against its schema before an Op is created for it.

#ifndef MACE_CORE_MODEL_OP_SCHEMA_H_
#define MACE_CORE_MODEL_OP_SCHEMA_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/base/status.h"
#include "mace/core/model/tensor.h"

namespace mace {

class ShapeContext;
struct OperatorDef;

enum class AttributeKind : uint8_t { kInt, kFloat, kString, kInts, kFloats };

// LayoutBit of each layout that a constant may have: elements in order; the
// filter of a convolution or a fully connected layer; matrices of integers,
// which are not packed in files before version 5.
inline constexpr uint8_t kPlainLayout = LayoutBit(ConstantLayout::kPlain);
inline constexpr uint8_t kFilterLayouts =
    LayoutBit(ConstantLayout::kPackedO16) |
    LayoutBit(ConstantLayout::kPackedO16Pairs) |
    LayoutBit(ConstantLayout::kPackedO16Scaled);
inline constexpr uint8_t kIntegerMatrixLayouts =
    kPlainLayout | LayoutBit(ConstantLayout::kPackedN16Fours);
// Of the filter of a quantized operator.
inline constexpr uint8_t kQuantizedFilterLayouts =
    kPlainLayout | LayoutBit(ConstantLayout::kPackedO16Fours);

struct PortSchema {
  const char *name;
  // Bit (1 << DataType) for each element type the port takes.
  uint16_t data_types;
  // Likewise of a quantized operator (IsQuantized in op.h), at ports that take
  // floats otherwise; 0: it has no such input or output.
  uint16_t quantized_types;
  bool optional;
  // Must be a constant of the model.
  bool constant;
  // LayoutBit of each layout that a constant here may have. One byte: a library
  // has a hundred ports and more.
  uint8_t layouts;
  // Last port only: stands for one or more tensors.
  bool variadic;
};

struct AttributeSchema {
  const char *name;
  AttributeKind kind;
};

struct OpSignature;  // op_signature.h

// Which integers of 8 bits an operator takes for the numbers of a quantized
// tensor: int8 and uint8 stand for the same ones, with zero points that differ
// by 128. A device stores what its kernels read (Tensor::shift).
enum class Signedness : uint8_t {
  kOfModel,  // what the model says: the operator computes with the integers
  kSame,     // either, but all its tensors the same: it only moves elements
  // Each tensor either. So does every quantized operator (IsQuantized in op.h).
  kAny,
};

// What an operator decides on others. Those between the beginning and the end
// of a loop run as often as the run decides. If the first input of a choice is
// one element, the CPU runs what only its second or only its third input needs
// if the element is true, or false. A failure ends the run.
enum class ControlFlow : uint8_t {
  kNone,
  kChoice,
  kFailure,
  kLoopBegin,
  kLoopEnd
};

// Whether the operator is never computed before the run.
inline bool IsForRunOnly(ControlFlow control) {
  return control >= ControlFlow::kFailure;
}

// The base of the generated <Op>Attributes. They own no memory: lists are views
// of the lists in the OperatorDef.
struct OpAttributes {};

// Checks ranks and matching dimensions, and sets the shape and the type of
// every output. Called for each new set of input shapes. An error need not name
// the operator.
using ShapeFunction = MaceStatus (*)(const OpAttributes &attributes,
                                     ShapeContext *context);

struct OpSchema {
  const char *type;
  const PortSchema *inputs;
  size_t input_count;
  const PortSchema *outputs;
  size_t output_count;
  // Of each, the letter of its kind (kAttributeLetters), its name, and 0:
  // without an address for each, which would take several times as many bytes
  // of a library. See ReadAttribute.
  const char *attributes;
  size_t attribute_count;
  // Of all devices, in order of preference.
  const OpSignature *signatures = nullptr;
  size_t signature_count = 0;

  size_t attributes_size = sizeof(OpAttributes);
  // Makes the attributes at `memory`, which is aligned for int64_t.
  // INVALID_ARGS names the operator and every problem.
  MaceStatus (*parse_attributes)(const OperatorDef &def,
                                 void *memory) = nullptr;
  ShapeFunction infer_shapes = nullptr;
  // The outputs depend only on the shapes of the inputs, like those of the
  // operator Shape: they are then computed before the run.
  bool depends_on_shapes_only = false;
  Signedness signedness = Signedness::kOfModel;
  ControlFlow control = ControlFlow::kNone;
};

// In the order of AttributeKind.
inline constexpr char kAttributeLetters[] = "ifsIF";

// Reads the attribute at `*entry`, and moves on to the next one.
AttributeSchema ReadAttribute(const char **entry);

// The port schema for position `index`; a variadic port is the last.
inline const PortSchema &PortSchemaAt(const PortSchema *ports,
                                      size_t count,
                                      size_t index) {
  return ports[index < count ? index : count - 1];
}

}  // namespace mace

#endif  // MACE_CORE_MODEL_OP_SCHEMA_H_
