// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/aligned_memory.h"

#include <new>

#include "mace/core/base/pages.h"

namespace mace {
namespace {

// Large blocks are aligned so that huge pages can be used.
size_t AlignmentOf(size_t bytes) {
  return bytes >= kHugePage ? kHugePage : kMemoryAlignment;
}

}  // namespace

void *NoElements() {
  alignas(kMemoryAlignment) static unsigned char memory[kMemoryAlignment];
  return memory;
}

bool AlignedMemory::Allocate(size_t bytes) {
  Release();
  if (bytes == 0) return true;
  const size_t alignment = AlignmentOf(bytes);
  if (bytes > PTRDIFF_MAX - alignment) return false;
  data_ =
      ::operator new(AlignUp(bytes), std::align_val_t{alignment}, std::nothrow);
  if (data_ == nullptr) return false;
  bytes_ = bytes;
  return true;
}

void AlignedMemory::Release() {
  if (data_ == nullptr) return;
  ::operator delete(data_, std::align_val_t{AlignmentOf(bytes_)});
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace mace
