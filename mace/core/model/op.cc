// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/op.h"

#include <algorithm>
#include <cstring>

namespace mace {
namespace {

// Constant-initialised, so that it is valid before any registration runs.
const OpRegistration *g_first = nullptr;
const char *g_selection = "";

}  // namespace

const AttributeValue *OperatorDef::FindAttribute(const char *key) const {
  const size_t size = std::strlen(key);
  for (const AttributeValue &attribute : attributes) {
    if (attribute.name.size() == size &&
        std::memcmp(attribute.name.data(), key, size) == 0) {
      return &attribute;
    }
  }
  return nullptr;
}

MaceStatus SetOutput(ShapeContext *context,
                     size_t index,
                     const Shape &shape,
                     DataType data_type) {
  // The largest number of elements whose byte offsets fit an index of this
  // processor, for the widest type.
  constexpr int64_t kLimit =
      std::min<int64_t>(INT64_C(1) << 40, PTRDIFF_MAX / 8);
  if (shape.CheckedElements(kLimit) < 0) {
    return InvalidArgs("output ", index, " would have the shape ",
                       shape.ToString(), ", which is too large");
  }
  context->SetOutput(index, shape, data_type);
  return MaceStatus();
}

MaceStatus AtOperator(const OperatorDef &def, const MaceStatus &status) {
  if (IsOk(status)) return status;
  const std::string message = StatusMessage(status);
  if (message.find("'" + def.name + "'") != std::string::npos) return status;
  return MaceStatus(status.code(), MakeString("operator '", def.name, "' (",
                                              def.type, "): ", message));
}

MaceStatus ParsedAttributes::Parse(const OpSchema &schema,
                                   const OperatorDef &def) {
  constexpr size_t kWord = sizeof(int64_t);
  memory_ =
      std::make_unique<int64_t[]>((schema.attributes_size + kWord - 1) / kWord);
  if (schema.parse_attributes == nullptr) return MaceStatus();
  return schema.parse_attributes(def, memory_.get());
}

AttributeSchema ReadAttribute(const char **entry) {
  size_t kind = 0;
  while (kAttributeLetters[kind] != **entry) ++kind;
  const char *name = *entry + 1;
  *entry = name + std::strlen(name) + 1;
  return {name, static_cast<AttributeKind>(kind)};
}

bool IsQuantized(const OpSchema &schema, const OperatorDef &def) {
  return schema.output_count > 0 && schema.outputs[0].quantized_types != 0 &&
         !def.output_quantization.empty() &&
         def.output_quantization[0].quantized();
}

namespace {

bool TakesFloats(const PortSchema &port) {
  return (port.data_types & DataTypeBit(DataType::kFloat32)) != 0;
}

}  // namespace

uint32_t PortTypes(const PortSchema &port, bool quantized) {
  return quantized && TakesFloats(port) ? port.quantized_types
                                        : port.data_types;
}

uint32_t PortLayouts(const PortSchema &port, bool quantized) {
  if (!quantized || !TakesFloats(port)) return port.layouts;
  return port.layouts == kFilterLayouts ? kQuantizedFilterLayouts
                                        : kPlainLayout;
}

OpRegistration::OpRegistration(const OpSchema *schema,
                               DeviceType device,
                               OpFactory factory,
                               const QuantizedChecks *quantized)
    : schema_(schema),
      device_(device),
      factory_(factory),
      quantized_(quantized),
      next_(g_first) {
  g_first = this;
}

const OpRegistration *OpRegistration::first() { return g_first; }

namespace {

// The next one of that type on that device, from `entry` on; null if none is.
const OpRegistration *Next(const OpRegistration *entry,
                           const std::string &type,
                           DeviceType device) {
  for (; entry != nullptr; entry = entry->next()) {
    // Most names differ in the first letter; there is one search per operator.
    const char *name = entry->schema()->type;
    if (name[0] == type.c_str()[0] && entry->device() == device &&
        std::strcmp(name, type.c_str()) == 0) {
      break;
    }
  }
  return entry;
}

}  // namespace

const OpRegistration *OpRegistration::Find(const std::string &type,
                                           DeviceType device) {
  const OpRegistration *entry = Next(g_first, type, device);
  while (entry != nullptr && entry->quantized_ != nullptr) {
    entry = Next(entry->next_, type, device);
  }
  return entry;
}

const OpRegistration *OpRegistration::For(const OperatorDef &def,
                                          DeviceType device) {
  const OpRegistration *entry = Next(g_first, def.type, device);
  while (entry != nullptr &&
         (entry->quantized_ != nullptr) != IsQuantized(*entry->schema_, def)) {
    entry = Next(entry->next_, def.type, device);
  }
  return entry;
}

OpSelection::OpSelection(const char *types) { g_selection = types; }

bool OpSelection::LeftOut(const std::string &type) {
  for (const OpRegistration *entry = g_first; entry != nullptr;
       entry = entry->next()) {
    if (type == entry->schema()->type) return false;
  }
  for (const char *name = g_selection; *name != 0;
       name += std::strlen(name) + 1) {
    if (type == name) return true;
  }
  return false;
}

}  // namespace mace
