// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_GRAPH_ENGINE_OPTIONS_H_
#define MACE_CORE_GRAPH_ENGINE_OPTIONS_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mace/core/base/visibility.h"
#include "mace/public/mace.h"

namespace mace {

// An option of one kind of device, as its runtime declares it:
//
//   struct Hints { int priority = 0; ... };  // what they mean
//   constexpr DeviceOption<Hints> kHints = {"hints"};
//
// A few numbers, or an object that configurations share. Each name has one
// type.
template <typename T>
struct DeviceOption {
  const char *name;
};
template <typename T>
struct SharedDeviceOption {
  const char *name;
};

// What the application asked of devices. Core hands it on to their runtimes and
// does not know what is in it.
class DeviceOptions {
 public:
  // The default of the type, if it was not set.
  template <typename T>
  T Get(DeviceOption<T> option) const {
    T value;
    const Entry *entry = At(option.name);
    if (entry != nullptr && entry->name != nullptr) {
      std::memcpy(&value, entry->numbers, sizeof(T));
    }
    return value;
  }
  // Null if it was not set.
  template <typename T>
  std::shared_ptr<const T> Get(SharedDeviceOption<T> option) const {
    const Entry *entry = At(option.name);
    if (entry == nullptr) return nullptr;
    return std::static_pointer_cast<const T>(entry->object);
  }

  // They fail if there is no room for one more option.
  template <typename T>
  MaceStatus Set(DeviceOption<T> option, const T &value) {
    static_assert(std::is_trivially_copyable_v<T> &&
                  sizeof(T) <= sizeof(Entry::numbers));
    Entry *entry = At(option.name);
    if (entry == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
    entry->name = option.name;
    std::memcpy(entry->numbers, &value, sizeof(T));
    return MaceStatus();
  }
  template <typename T>
  MaceStatus Set(SharedDeviceOption<T> option,
                 std::shared_ptr<const T> object) {
    Entry *entry = At(option.name);
    if (entry == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
    entry->name = option.name;
    entry->object = std::move(object);
    return MaceStatus();
  }

 private:
  struct Entry {
    const char *name = nullptr;  // null: not used yet
    std::shared_ptr<const void> object;
    unsigned char numbers[16];
  };
  // At least as many as the runtimes declare: an array needs less code in every
  // library than a container that grows.
  static constexpr size_t kMostOptions = 4;

  // The entry of that name, or else the first that is not used; null if there
  // is none.
  const Entry *At(const char *name) const;
  Entry *At(const char *name) {
    return const_cast<Entry *>(std::as_const(*this).At(name));
  }

  Entry entries_[kMostOptions];
};

// The settings of a MaceEngineConfig.
struct EngineOptions {
  // In order of preference.
  std::vector<DeviceType> devices = {CPU};
  // Set for one subgraph by name; of two entries of a name, the later is valid.
  std::vector<std::pair<std::string, std::vector<DeviceType>>> subgraph_devices;
  // False: one thread per big core.
  bool has_thread_policy = false;
  int num_threads = 0;
  CPUAffinityPolicy affinity = AFFINITY_NONE;
  // Stop at the first operator that produces NaN or infinity.
  bool check_numerics = false;
  // Run operators that are connected by a large tensor in bands of rows. Has no
  // effect with check_numerics, which checks each tensor.
  bool row_bands = true;
  // Device::Start will not be called: the factory opens the driver.
  bool opens_driver = false;
  // Compare the checksum of the weights.
  bool check_weights = false;
  // In bytes; 0: none.
  size_t memory_limit = 0;
  DeviceOptions device_options;
};

class MACE_HIDDEN MaceEngineConfig::Impl {
 public:
  EngineOptions options;
};

}  // namespace mace

#endif  // MACE_CORE_GRAPH_ENGINE_OPTIONS_H_
