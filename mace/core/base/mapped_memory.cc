// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/mapped_memory.h"

#include <sys/mman.h>

namespace mace {

bool MappedMemory::Allocate(size_t bytes) {
  Release();
  if (bytes == 0) return true;
  void *data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return false;
  data_ = data;
  bytes_ = bytes;
  return true;
}

void MappedMemory::Release() {
  if (data_ == nullptr) return;
  munmap(data_, bytes_);
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace mace
