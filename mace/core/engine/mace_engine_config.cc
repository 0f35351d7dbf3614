// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/engine_options.h"

namespace mace {
namespace {

// Whether an environment variable is on; `otherwise` if it is not set or empty.
bool IsOn(const char *variable, bool otherwise) {
  const char *value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return otherwise;
  return std::strcmp(value, "0") != 0;
}

std::unique_ptr<MaceEngineConfig::Impl> NewImpl(DeviceType device) {
  try {
    auto impl = std::make_unique<MaceEngineConfig::Impl>();
    impl->options.devices.assign(1, device);
    impl->options.check_numerics = IsOn("MACE_OUT_OF_RANGE_CHECK", false);
    impl->options.row_bands = IsOn("MACE_ROW_BANDS", true);
    return impl;
  } catch (...) {
    return nullptr;
  }
}

std::unique_ptr<MaceEngineConfig::Impl> Copy(
    const MaceEngineConfig::Impl *impl) {
  if (impl == nullptr) return nullptr;
  try {
    return std::make_unique<MaceEngineConfig::Impl>(*impl);
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

// If memory runs out, impl_ is null; the setters and the creation of an engine
// then report it. A constructor can't return a status, and must not throw.

MaceEngineConfig::MaceEngineConfig() : impl_(NewImpl(CPU)) {}
MaceEngineConfig::MaceEngineConfig(DeviceType device_type)
    : impl_(NewImpl(device_type)) {}
MaceEngineConfig::MaceEngineConfig(const MaceEngineConfig &other)
    : impl_(Copy(other.impl())) {}
MaceEngineConfig &MaceEngineConfig::operator=(const MaceEngineConfig &other) {
  if (this != &other) impl_ = Copy(other.impl());
  return *this;
}
MaceEngineConfig::~MaceEngineConfig() = default;

const MaceEngineConfig::Impl *MaceEngineConfig::impl() const {
  return impl_.get();
}

MaceStatus MaceEngineConfig::SetRuntimeType(RuntimeType runtime_type,
                                            const char *subgraph) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  try {
    return SetRuntimeTypes({runtime_type}, subgraph);
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

MaceStatus MaceEngineConfig::SetRuntimeTypes(
    const std::vector<RuntimeType> &runtime_types, const char *subgraph) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  try {
    if (runtime_types.empty()) {
      return InvalidArgs("no runtime type is given");
    }
    std::vector<DeviceType> devices;
    for (RuntimeType type : runtime_types) {
      devices.push_back(static_cast<DeviceType>(type));
    }
    if (subgraph == nullptr || *subgraph == '\0') {
      impl_->options.devices = std::move(devices);
    } else {
      impl_->options.subgraph_devices.emplace_back(subgraph,
                                                   std::move(devices));
    }
  } catch (...) {
    return CurrentExceptionStatus();
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngineConfig::SetCPUThreadPolicy(int num_threads,
                                                CPUAffinityPolicy policy) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  if (num_threads < -1) {
    return InvalidArgs("num_threads is ", num_threads,
                       "; give a positive number, or -1 for as many as the "
                       "policy selects");
  }
  if (policy < AFFINITY_NONE || policy > AFFINITY_POWER_SAVE) {
    return InvalidArgs("CPU affinity policy ", static_cast<int>(policy),
                       " does not exist; there are 0 (none), 1 (big cores), "
                       "2 (little cores), 3 (high performance) and 4 (power "
                       "save)");
  }
  impl_->options.has_thread_policy = true;
  impl_->options.num_threads = num_threads;
  impl_->options.affinity = policy;
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngineConfig::SetOutOfRangeCheck(bool enabled) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  impl_->options.check_numerics = enabled;
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngineConfig::SetWeightsCheck(bool enabled) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  impl_->options.check_weights = enabled;
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngineConfig::SetMemoryLimit(size_t bytes) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  impl_->options.memory_limit = bytes;
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace mace
