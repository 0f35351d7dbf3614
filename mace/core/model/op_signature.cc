// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/op_signature.h"

#include <algorithm>

namespace mace {
namespace {

bool Has(uint32_t inputs, size_t index) {
  return ((inputs >> std::min<size_t>(index, 31)) & 1u) != 0;
}

bool IsOneOf(const AttributeCondition &condition, const AttributeValue &value) {
  for (size_t i = 0; i < condition.count; ++i) {
    if (condition.words != nullptr ? value.s == condition.words[i]
                                   : value.i == condition.numbers[i]) {
      return true;
    }
  }
  return false;
}

bool Holds(const AttributeCondition &condition, const OperatorDef &def) {
  const AttributeValue *value = def.FindAttribute(condition.name);
  const bool among =
      value == nullptr ? condition.has_default : IsOneOf(condition, *value);
  return among != condition.negated;
}

bool Holds(const ConstantCondition &condition, const Tensor *constant) {
  return constant != nullptr &&
         (condition.data_types & DataTypeBit(constant->data_type)) != 0 &&
         (condition.layouts & LayoutBit(constant->layout)) != 0;
}

bool Holds(const OpSignature &signature, const SignatureContext &context) {
  const DataType type = StorageType(context.precision());
  if ((signature.floats & DataTypeBit(type)) == 0) return false;
  for (size_t i = 0; i < signature.attribute_count; ++i) {
    if (!Holds(signature.attributes[i], context.def())) return false;
  }
  for (size_t i = 0; i < signature.constant_count; ++i) {
    const ConstantCondition &condition = signature.constants[i];
    if (!Holds(condition, context.constant(condition.input))) return false;
  }
  // Checked last, because it may call the operating system.
  return signature.kernels == nullptr || context.HasKernels(signature.kernels);
}

}  // namespace

const OpSignature *FindSignature(const OpSchema &schema,
                                 DeviceType device,
                                 const SignatureContext &context) {
  for (size_t i = 0; i < schema.signature_count; ++i) {
    const OpSignature &signature = schema.signatures[i];
    if (signature.device == device && Holds(signature, context)) {
      return &signature;
    }
  }
  return nullptr;
}

bool StoresOtherFloats(const OpSignature *signature,
                       const std::vector<FloatStorage> &inputs) {
  if (signature == nullptr) return false;
  if (!signature->follows_inputs) return true;
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    switch (inputs[i]) {
      case FloatStorage::kNone:
        break;
      case FloatStorage::kOther:
        any = true;
        break;
      case FloatStorage::kConstant:
        if (!Has(signature->float32_constants, i)) return false;
        break;
      case FloatStorage::kFloat32:
        return false;
    }
  }
  return any;
}

FloatStorage WantedFloat(const OpSignature &signature,
                         size_t index,
                         FloatStorage stored) {
  return stored == FloatStorage::kFloat32 &&
                 Has(signature.float32_inputs, index)
             ? FloatStorage::kFloat32
             : FloatStorage::kOther;
}

bool IsFloatPort(const PortSchema *ports, size_t count, size_t index) {
  const PortSchema &port = PortSchemaAt(ports, count, index);
  return (port.data_types & DataTypeBit(DataType::kFloat32)) != 0;
}

}  // namespace mace
