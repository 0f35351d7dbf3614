// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What an application asks of devices in particular, for example the clock of a
// GPU. The engine hands it on and knows nothing of it: each runtime declares
// its settings as one struct with a name and a meaning.
//
//   struct GpuSettings {
//     static constexpr const char *kName = "gpu";
//     ...
//   };

#ifndef MACE_CORE_GRAPH_DEVICE_SETTINGS_H_
#define MACE_CORE_GRAPH_DEVICE_SETTINGS_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace mace {

// Copies share the structs, which do not change.
class DeviceSettings {
 public:
  // What was set, or else the defaults of T. Each name has one type.
  template <typename T>
  T Get() const {
    const auto found = of_.find(T::kName);
    return found == of_.end() ? T()
                              : *static_cast<const T *>(found->second.get());
  }
  template <typename T>
  void Set(T settings) {
    of_[T::kName] = std::make_shared<const T>(std::move(settings));
  }

 private:
  std::map<std::string, std::shared_ptr<const void>> of_;
};

}  // namespace mace

#endif  // MACE_CORE_GRAPH_DEVICE_SETTINGS_H_
