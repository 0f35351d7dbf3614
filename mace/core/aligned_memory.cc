// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/aligned_memory.h"

#include <new>

namespace mace {

bool AlignedMemory::Allocate(size_t bytes) {
  Release();
  if (bytes == 0) return true;
  if (bytes > PTRDIFF_MAX - kMemoryAlignment) return false;
  data_ = ::operator new(AlignUp(bytes), std::align_val_t{kMemoryAlignment},
                         std::nothrow);
  if (data_ == nullptr) return false;
  bytes_ = bytes;
  return true;
}

void AlignedMemory::Release() {
  if (data_ == nullptr) return;
  ::operator delete(data_, std::align_val_t{kMemoryAlignment});
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace mace
