// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of an operator that are the same on every device: its definition in
// a model file, its attributes, and what its shape function is given. Each
// device defines how it computes the operator; see mace/ops/cpu_op/cpu_op.h for
// the CPU.

#ifndef MACE_CORE_MODEL_OP_H_
#define MACE_CORE_MODEL_OP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "mace/core/base/precision.h"
#include "mace/core/base/status.h"
#include "mace/core/model/op_schema.h"
#include "mace/core/model/quantization.h"
#include "mace/core/model/tensor.h"
#include "mace/public/mace_devices.h"

namespace mace {

// One attribute of an operator in a model file.
struct AttributeValue {
  std::string name;
  AttributeKind kind;
  int64_t i = 0;
  float f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<float> floats;
};

// One operator of a model file.
struct OperatorDef {
  std::string name;
  std::string type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<AttributeValue> attributes;
  // Index of the model's subgraph that it belongs to.
  uint32_t subgraph = 0;
  // One for each output, or none.
  std::vector<Quantization> output_quantization;

  // Null if the model does not set it.
  const AttributeValue *FindAttribute(const char *key) const;
};

// What the deployment file asks of the kernels.
struct DeploymentHints {
  // Largest Winograd tile that a convolution may choose: 0 (off), 2 or 4.
  int winograd = 0;
  // Precision of activations and arithmetic, where the device and the operator
  // support it.
  Precision precision = Precision::kFloat32;
  // The weights are in fp16 and arithmetic is in float32 (data_type fp16_fp32).
  // A device whose speed depends on memory more than on arithmetic, such as a
  // GPU, then stores activations in fp16, too. The CPU does not.
  bool half_storage = false;
  // The messages of the model file with all of this, for devices that have
  // hints of their own.
  std::string encoded;
};

class ShapeContext {
 public:
  virtual ~ShapeContext() = default;
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;
  // Null if absent, and for every index from input_count() on. `data` is set
  // only if the value is known before the run: for constants, and for small
  // integer tensors that are computed from shapes.
  virtual const Tensor *input(size_t index) const = 0;
  // The data type is the one in the model; the operator does not decide how a
  // device stores float.
  virtual void SetOutput(size_t index,
                         const Shape &shape,
                         DataType data_type) = 0;
};

// Sets an output, after checking that its size does not overflow.
MaceStatus SetOutput(ShapeContext *context,
                     size_t index,
                     const Shape &shape,
                     DataType data_type);

// Whether the operator computes in quantized numbers: its first output is a
// quantized one where the declaration says float32. All its other numbers then
// are, too. Such operators have implementations of their own.
bool IsQuantized(const OpSchema &schema, const OperatorDef &def);

// DataTypeBit of each type that a port takes, of a quantized operator or of
// another one.
uint32_t PortTypes(const PortSchema &port, bool quantized);
// Likewise LayoutBit of each layout that a constant may have there.
uint32_t PortLayouts(const PortSchema &port, bool quantized);

// Adds the operator's name to an error, unless the message has it already.
MaceStatus AtOperator(const OperatorDef &def, const MaceStatus &status);

// The attributes of one operator.
class ParsedAttributes {
 public:
  // INVALID_ARGS names the operator and every problem. `def` must outlive the
  // attributes.
  MaceStatus Parse(const OpSchema &schema, const OperatorDef &def);
  // After Parse succeeded.
  const OpAttributes &get() const {
    return *reinterpret_cast<const OpAttributes *>(memory_.get());
  }

 private:
  std::unique_ptr<int64_t[]> memory_;
};

// For schemas: the functions of an operator with attributes of type A.
template <typename A>
MaceStatus ParseAttributes(const OperatorDef &def, void *memory) {
  static_assert(alignof(A) <= alignof(int64_t));
  static_assert(std::is_trivially_destructible_v<A>);
  return (new (memory) A)->Parse(def);
}
template <typename A, MaceStatus (*kInfer)(const A &, ShapeContext *)>
MaceStatus CallShapeFunction(const OpAttributes &attributes,
                             ShapeContext *context) {
  return kInfer(static_cast<const A &>(attributes), context);
}

// How one device computes an operator.
class Op {
 public:
  virtual ~Op() = default;
};

// Checks of quantized operators, which libraries without such operators do not
// link: kQuantizedChecks in quantized_checks.h. INVALID_ARGS names the problem.
struct QuantizedChecks {
  // `tensor` is input `index`.
  MaceStatus (*check_input)(const OpSchema &schema,
                            size_t index,
                            const Tensor &tensor);
};

using OpFactory = std::unique_ptr<Op> (*)();

// Registers the implementation of an operator on one device. Registrations form
// a list of static objects, so that registering allocates nothing, and linking
// an operator is enough to register it. What all devices share of an operator
// is in its schema. Every operator has an implementation on the CPU.
class OpRegistration {
 public:
  OpRegistration(const OpSchema *schema,
                 DeviceType device,
                 OpFactory factory,
                 const QuantizedChecks *quantized = nullptr);

  const OpSchema *schema() const { return schema_; }
  DeviceType device() const { return device_; }
  OpFactory factory() const { return factory_; }
  // Not null if it computes the quantized operators of that type
  // (IsQuantized), and only these.
  const QuantizedChecks *quantized() const { return quantized_; }
  const OpRegistration *next() const { return next_; }

  static const OpRegistration *first();
  // The one that computes that operator; null if there is none.
  static const OpRegistration *For(const OperatorDef &def, DeviceType device);
  // The one that computes operators of that type that are not quantized; null
  // if there is none.
  static const OpRegistration *Find(const std::string &type, DeviceType device);

 private:
  const OpSchema *schema_;
  DeviceType device_;
  OpFactory factory_;
  const QuantizedChecks *quantized_;
  const OpRegistration *next_;
};

// A library that was built with selected operators links one object of this
// class. It names all operators of MACE, so that the error message for a model
// that needs one of the others can say that it was left out.
class OpSelection {
 public:
  // `types`: their names, one after the other, each with a zero at its end, and
  // an empty one; it is kept by reference.
  explicit OpSelection(const char *types);

  // True if MACE has that type but this library was built without it.
  static bool LeftOut(const std::string &type);
};

}  // namespace mace

// MACE_REGISTER_OP(Softmax, CPU, SoftmaxOp); at namespace scope in a .cc file,
// after including the generated <op>_schema.h, which defines k##type##Schema.
#define MACE_REGISTER_OP(type, device, op_class) \
  MACE_REGISTER_OP_AS(type, device, op_class, nullptr)
// The same for the quantized operators of that type; needs quantized_checks.h.
#define MACE_REGISTER_QUANTIZED_OP(type, device, op_class) \
  MACE_REGISTER_OP_AS(type, device, op_class, &::mace::kQuantizedChecks)
#define MACE_REGISTER_OP_AS(type, device, op_class, quantized)             \
  static const ::mace::OpRegistration mace_registration_##type##_##device( \
      &k##type##Schema, ::mace::DeviceType::device,                        \
      []() -> std::unique_ptr<::mace::Op> {                                \
        return std::make_unique<op_class>();                               \
      },                                                                   \
      quantized)

#endif  // MACE_CORE_MODEL_OP_H_
