// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/mapped_memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace mace {

void Unmap::operator()(void *data) const { munmap(data, bytes); }

MappedMemory MapMemory(size_t bytes) {
  const size_t room = std::max<size_t>(bytes, 1);
  void *data = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  return MappedMemory(data, {room});
}

}  // namespace mace
