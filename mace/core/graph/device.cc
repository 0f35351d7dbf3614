// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/graph/device.h"

#include <cstring>

namespace mace {
namespace {

const DeviceRegistration *g_first = nullptr;

}  // namespace

const DeviceOptions::Entry *DeviceOptions::At(const char *name) const {
  for (const Entry &entry : entries_) {
    if (entry.name == nullptr || std::strcmp(entry.name, name) == 0) {
      return &entry;
    }
  }
  return nullptr;
}

DeviceRegistration::DeviceRegistration(DeviceType type, Factory factory)
    : type_(type), factory_(factory), next_(g_first) {
  g_first = this;
}

const DeviceRegistration *DeviceRegistration::first() { return g_first; }

const DeviceRegistration *DeviceRegistration::Find(DeviceType type) {
  for (const DeviceRegistration *entry = g_first; entry != nullptr;
       entry = entry->next_) {
    if (entry->type_ == type) return entry;
  }
  return nullptr;
}

Result<std::unique_ptr<Device>> DeviceRegistration::Create(
    DeviceType type, const EngineOptions &options) {
  const DeviceRegistration *found = Find(type);
  if (found != nullptr) return found->factory_(options);
  std::string others;
  for (const DeviceRegistration *entry = g_first; entry != nullptr;
       entry = entry->next_) {
    if (!others.empty()) others += ", ";
    others += DeviceName(entry->type_);
  }
  return Unsupported("the library has no ", DeviceName(type),
                     " runtime; it has: ", others.empty() ? "none" : others);
}

}  // namespace mace
