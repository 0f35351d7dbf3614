// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_MAPPED_MEMORY_H_
#define MACE_CORE_BASE_MAPPED_MEMORY_H_

#include <cstddef>
#include <utility>

namespace mace {

// Owns zeroed memory that comes from the system, and goes back there as soon as
// it is released. An allocator of C or C++ keeps large blocks for later: up to
// 64 MB in glibc, for a process that once had some of a few megabytes.
class MappedMemory {
 public:
  MappedMemory() = default;
  ~MappedMemory() { Release(); }
  MappedMemory(MappedMemory &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  MappedMemory &operator=(MappedMemory &&other) noexcept {
    if (this != &other) {
      Release();
      data_ = std::exchange(other.data_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }

  // Releases the old memory. If there is not enough, returns false and holds
  // none.
  bool Allocate(size_t bytes);
  void Release();

  void *data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void *data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace mace

#endif  // MACE_CORE_BASE_MAPPED_MEMORY_H_
