// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/delegate/accelerator_options.h"

#include <memory>
#include <utility>

#include "mace/core/base/status.h"

namespace mace {

struct MaceEngineConfigAccess {
  static MaceEngineConfig::Impl *ImplOf(MaceEngineConfig *config) {
    return config->impl_.get();
  }
};

namespace {

MaceStatus SetCache(const AcceleratorSetting &setting,
                    AcceleratorOptions *options) {
  const int policy = setting.first;
  if (policy < ACCELERATOR_CACHE_NONE || policy > APU_CACHE_LOAD_OR_STORE) {
    return InvalidArgs("accelerator cache policy ", policy,
                       " does not exist; there are 0 (none), 1 (store), 2 "
                       "(load) and 3 (load or store)");
  }
  std::string binary = *setting.binary_file;
  std::string storage = *setting.storage_file;
  if (policy == APU_CACHE_LOAD_OR_STORE) {
    if (binary.empty()) binary = storage;
    if (storage.empty()) storage = binary;
  }
  const bool loads =
      policy == ACCELERATOR_CACHE_LOAD || policy == APU_CACHE_LOAD_OR_STORE;
  const bool stores =
      policy == ACCELERATOR_CACHE_STORE || policy == APU_CACHE_LOAD_OR_STORE;
  if ((loads && binary.empty()) || (stores && storage.empty())) {
    return InvalidArgs("accelerator cache policy ", policy, " needs a ",
                       loads ? "binary file to read" : "storage file to write",
                       ", whose name is empty");
  }
  options->cache_policy = static_cast<AcceleratorCachePolicy>(policy);
  options->binary_file = std::move(binary);
  options->storage_file = std::move(storage);
  return MaceStatus();
}

MaceStatus SetHints(const AcceleratorSetting &setting,
                    DelegateOptions *options) {
  constexpr int kMostBoost = 100;
  if (setting.first < 0 || setting.first > kMostBoost ||
      setting.second < NEURON_PREFER_LOW_POWER ||
      setting.second > NEURON_PREFER_SUSTAINED_SPEED) {
    return InvalidArgs("APU hints ", setting.first, " and ", setting.second,
                       "; the boost is 0 to 100, the preference 0 (low power), "
                       "1 (fast answer) or 2 (sustained speed)");
  }
  options->apu_boost_hint = static_cast<uint8_t>(setting.first);
  options->apu_preference = static_cast<APUPreferenceHint>(setting.second);
  return MaceStatus();
}

MaceStatus SetPerformance(const AcceleratorSetting &setting,
                          DelegateOptions *options) {
  if (setting.first < HEXAGON_BURST ||
      setting.first > HEXAGON_SYSTEM_SETTINGS) {
    return InvalidArgs("HTP performance ", setting.first,
                       " does not exist; give one of HexagonPerformanceType, 0 "
                       "(burst) to 8 (as the system is set)");
  }
  options->performance = static_cast<HexagonPerformanceType>(setting.first);
  return MaceStatus();
}

}  // namespace

namespace accelerator {

MaceStatus Configure(MaceEngineConfig *config,
                     const AcceleratorSetting &setting) {
  MaceEngineConfig::Impl *impl = MaceEngineConfigAccess::ImplOf(config);
  if (impl == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  try {
    DeviceOptions &options = impl->options.device_options;
    const auto current = options.Get(kAcceleratorOptions);
    auto changed = current == nullptr
                       ? std::make_shared<AcceleratorOptions>()
                       : std::make_shared<AcceleratorOptions>(*current);
    switch (setting.kind) {
      case AcceleratorSetting::CACHE:
        MACE_RETURN_IF_ERROR(SetCache(setting, changed.get()));
        break;
      case AcceleratorSetting::APU_HINTS:
        MACE_RETURN_IF_ERROR(SetHints(setting, &changed->delegate));
        break;
      case AcceleratorSetting::QNN_PERFORMANCE:
        MACE_RETURN_IF_ERROR(SetPerformance(setting, &changed->delegate));
        break;
    }
    return options.Set<AcceleratorOptions>(kAcceleratorOptions,
                                           std::move(changed));
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

}  // namespace accelerator
}  // namespace mace
