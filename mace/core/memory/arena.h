// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MEMORY_ARENA_H_
#define MACE_CORE_MEMORY_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "mace/public/mace_devices.h"

namespace mace {

// Memory of one device; each derives its own.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual size_t bytes() const = 0;
};

// The memory of intermediate tensors, on every device that an engine uses.
// Engines that share an arena (tutor and pupil) hold the lock while they run.
// If they run at the same time, which is not allowed, the runs are slow, but
// their results are right.
class Arena {
 public:
  std::mutex mutex;

  // Guarded by the mutex, as all that follows: of the memory of all devices.
  size_t limit = SIZE_MAX;

  // Null until the device stores its memory there.
  std::unique_ptr<DeviceMemory> &MemoryOf(DeviceType device) {
    for (auto &[type, memory] : memories_) {
      if (type == device) return memory;
    }
    memories_.emplace_back(device, nullptr);
    return memories_.back().second;
  }
  size_t bytes() const {
    size_t total = 0;
    for (const auto &[type, memory] : memories_) {
      if (memory != nullptr) total += memory->bytes();
    }
    return total;
  }
  // Whether a device that holds `memory` may hold `bytes` in its place.
  bool Allows(const DeviceMemory &memory, size_t wanted) const {
    return bytes() - memory.bytes() + wanted <= limit;
  }
  void Release() {
    for (auto &[type, memory] : memories_) memory.reset();
  }

 private:
  std::vector<std::pair<DeviceType, std::unique_ptr<DeviceMemory>>> memories_;
};

}  // namespace mace

#endif  // MACE_CORE_MEMORY_ARENA_H_
