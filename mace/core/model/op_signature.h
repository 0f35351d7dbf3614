// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// In which types a device stores what the model calls float, at the ports of
// one operator. Every device takes and gives float32. The other types are
// signatures: the `signatures` of mace/ops/<op>/<op>.op.yaml, which
// mace/ops/README.md explains, generated into the operator's schema.

#ifndef MACE_CORE_MODEL_OP_SIGNATURE_H_
#define MACE_CORE_MODEL_OP_SIGNATURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/core/base/data_type.h"
#include "mace/core/base/precision.h"
#include "mace/core/model/op.h"
#include "mace/core/model/op_schema.h"
#include "mace/core/model/tensor.h"
#include "mace/public/mace_devices.h"

namespace mace {

inline constexpr uint32_t kAnyType = ~0u;
inline constexpr uint32_t kAnyLayout = ~0u;

// How the constant at an input must be stored.
struct ConstantCondition {
  size_t input;
  uint32_t data_types;  // DataTypeBit of each
  uint32_t layouts;     // LayoutBit of each
};

// What the value of an attribute must be, or must not be.
struct AttributeCondition {
  const char *name;
  // `count` of one kind; the other is null.
  const char *const *words;
  const int64_t *numbers;
  size_t count;
  // Whether the attribute's default is one of the values.
  bool has_default;
  // Whether the attribute must have none of the values instead of one of them.
  bool negated;
};

struct OpSignature {
  DeviceType device;
  // DataTypeBit of each type that floats may be stored as.
  uint32_t floats;
  // The operator takes and gives that type if all its float inputs are stored
  // so. Otherwise it takes and gives nothing else.
  bool follows_inputs;
  // Bit i: computed input i (the last bit: all from 31 on) is taken in
  // float32, too, at less cost than that of a conversion. Only without
  // follows_inputs.
  uint32_t float32_inputs;
  // Likewise: a constant of float32 at input i does not keep the operator from
  // following the others. Only with follows_inputs.
  uint32_t float32_constants;
  // The family of kernels that must exist for the type; null if none need to.
  const char *kernels;
  const ConstantCondition *constants;
  size_t constant_count;
  const AttributeCondition *attributes;
  size_t attribute_count;
};

// What a device knows of one operator when it asks for its signature.
class SignatureContext {
 public:
  virtual ~SignatureContext() = default;
  virtual Precision precision() const = 0;
  virtual const OperatorDef &def() const = 0;
  // Null if the input is absent or computed.
  virtual const Tensor *constant(size_t input) const = 0;
  // Whether this device and this library have that family of kernels for the
  // type of the precision.
  virtual bool HasKernels(const char *family) const = 0;
};

// The operator's first signature that holds; null if it stores floats as
// float32 alone.
const OpSignature *FindSignature(const OpSchema &schema,
                                 DeviceType device,
                                 const SignatureContext &context);

// How the value at a float input of an operator is stored.
enum class FloatStorage : uint8_t {
  kNone,      // absent, or its port takes no floats
  kConstant,  // of the model: stored as it says
  kFloat32,
  kOther  // of the type that the deployment asks for
};

// Whether the operator takes and gives floats in the other type, when its
// inputs are stored so. `signature` may be null.
bool StoresOtherFloats(const OpSignature *signature,
                       const std::vector<FloatStorage> &inputs);

// The type in which input `index`, a computed float, is handed to an operator
// that StoresOtherFloats: the same as `stored`, or a conversion is needed.
FloatStorage WantedFloat(const OpSignature &signature,
                         size_t index,
                         FloatStorage stored);

// Whether floats pass that port of `count`.
bool IsFloatPort(const PortSchema *ports, size_t count, size_t index);

}  // namespace mace

#endif  // MACE_CORE_MODEL_OP_SIGNATURE_H_
