// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>

#include "mace/core/engine_options.h"
#include "mace/core/status.h"

namespace mace {
namespace {

std::unique_ptr<MaceEngineConfig::Impl> NewImpl() {
  auto impl = std::make_unique<MaceEngineConfig::Impl>();
  const char *check = std::getenv("MACE_OUT_OF_RANGE_CHECK");
  impl->options.check_numerics =
      check != nullptr && *check != '\0' && std::strcmp(check, "0") != 0;
  return impl;
}

}  // namespace

MaceEngineConfig::MaceEngineConfig() : impl_(NewImpl()) {}
MaceEngineConfig::MaceEngineConfig(DeviceType device_type) : impl_(NewImpl()) {
  impl_->options.device = device_type;
}
MaceEngineConfig::MaceEngineConfig(const MaceEngineConfig &other)
    : impl_(std::make_unique<Impl>(*other.impl_)) {}
MaceEngineConfig &MaceEngineConfig::operator=(const MaceEngineConfig &other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
MaceEngineConfig::~MaceEngineConfig() = default;

const MaceEngineConfig::Impl *MaceEngineConfig::impl() const {
  return impl_.get();
}

MaceStatus MaceEngineConfig::SetRuntimeType(RuntimeType runtime_type,
                                            const char *subgraph) {
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
  impl_->options.check_numerics = enabled;
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngineConfig::SetWeightsCheck(bool enabled) {
  impl_->options.check_weights = enabled;
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace mace
