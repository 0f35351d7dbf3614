// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>
#include <new>

#include "mace/core/engine_options.h"
#include "mace/core/status.h"

namespace mace {
namespace {

// Whether an environment variable is on; `otherwise` if it is not set or empty.
bool IsOn(const char *variable, bool otherwise) {
  const char *value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return otherwise;
  return std::strcmp(value, "0") != 0;
}

std::unique_ptr<MaceEngineConfig::Impl> NewImpl(DeviceType device) {
  std::unique_ptr<MaceEngineConfig::Impl> impl(new (std::nothrow)
                                                   MaceEngineConfig::Impl());
  if (impl == nullptr) return impl;
  impl->options.device = device;
  impl->options.check_numerics = IsOn("MACE_OUT_OF_RANGE_CHECK", false);
  impl->options.row_bands = IsOn("MACE_ROW_BANDS", true);
  return impl;
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

// Without memory impl_ is null; the setters and the creation of an engine then
// say so. A constructor can't return a status, and must not throw.

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
    const auto device = static_cast<DeviceType>(runtime_type);
    if (subgraph == nullptr || *subgraph == '\0') {
      impl_->options.device = device;
    } else {
      impl_->options.subgraph_devices[subgraph] = device;
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

}  // namespace mace
