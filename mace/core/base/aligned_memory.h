// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_ALIGNED_MEMORY_H_
#define MACE_CORE_BASE_ALIGNED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace mace {

// Alignment of the arena, of scratch, of prepared constants and of every
// constant in a data file: one cache line, and the widest vector (AVX-512).
constexpr size_t kMemoryAlignment = 64;

constexpr size_t AlignUp(size_t bytes) {
  return (bytes + kMemoryAlignment - 1) & ~(kMemoryAlignment - 1);
}

inline bool IsAligned(const void *address, size_t alignment) {
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

// An address for tensors without elements. Nothing may be stored there.
void *NoElements();

// Owns uninitialised memory at a multiple of kMemoryAlignment.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  ~AlignedMemory() { Release(); }
  AlignedMemory(AlignedMemory &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  AlignedMemory &operator=(AlignedMemory &&other) noexcept {
    if (this != &other) {
      Release();
      data_ = std::exchange(other.data_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }

  // Frees the old memory, then allocates, so that the peak is the larger of the
  // two sizes. If there is not enough memory, returns false and holds none.
  bool Allocate(size_t bytes);
  void Release();

  void *data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void *data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace mace

#endif  // MACE_CORE_BASE_ALIGNED_MEMORY_H_
