// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/op.h"

#include <cstring>

namespace mace {
namespace {

// Constant-initialised, so that it is valid before any registration runs.
const OpRegistration *g_first = nullptr;
const char *const *g_selection = nullptr;
size_t g_selection_size = 0;

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

OpRegistration::OpRegistration(const OpSchema *schema,
                               DeviceType device,
                               OpFactory factory)
    : schema_(schema), device_(device), factory_(factory), next_(g_first) {
  g_first = this;
}

const OpRegistration *OpRegistration::first() { return g_first; }

const OpRegistration *OpRegistration::Find(const std::string &type,
                                           DeviceType device) {
  for (const OpRegistration *entry = g_first; entry != nullptr;
       entry = entry->next_) {
    // The first letter tells most apart; there is one search per operator.
    if (entry->schema_->type[0] == type.c_str()[0] &&
        entry->device_ == device &&
        std::strcmp(entry->schema_->type, type.c_str()) == 0) {
      return entry;
    }
  }
  return nullptr;
}

OpSelection::OpSelection(const char *const *types, size_t count) {
  g_selection = types;
  g_selection_size = count;
}

bool OpSelection::LeftOut(const std::string &type) {
  for (const OpRegistration *entry = g_first; entry != nullptr;
       entry = entry->next()) {
    if (type == entry->schema()->type) return false;
  }
  for (size_t i = 0; i < g_selection_size; ++i) {
    if (type == g_selection[i]) return true;
  }
  return false;
}

}  // namespace mace
