// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_MAPPED_MEMORY_H_
#define MACE_CORE_BASE_MAPPED_MEMORY_H_

#include <cstddef>
#include <memory>

namespace mace {

// Gives memory of MapMemory back.
struct Unmap {
  size_t bytes = 0;
  void operator()(void *data) const;
};

// Memory that goes back to the system as soon as it is released. An allocator
// of C or C++ keeps large blocks for later: up to 64 MB in glibc, for a process
// that once had some of a few megabytes.
using MappedMemory = std::unique_ptr<void, Unmap>;

// Zeroed memory of at least one byte; null if there is not enough.
MappedMemory MapMemory(size_t bytes);

inline size_t BytesOf(const MappedMemory &memory) {
  return memory.get_deleter().bytes;
}

}  // namespace mace

#endif  // MACE_CORE_BASE_MAPPED_MEMORY_H_
