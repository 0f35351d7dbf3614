// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/aligned_memory.h"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace mace {
namespace {

// Large blocks are asked for in pages of 2 MiB where the system has them: 90 MB
// of transformed filters are then 45 page faults instead of 22 000, and the
// kernels that stream them miss no TLB entry. Where it has none nothing
// changes.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLarge = 2 * kHugePage;

size_t AlignmentOf(size_t bytes) {
  return bytes >= kLarge ? kHugePage : kMemoryAlignment;
}

void AdviseHugePages(void *data, size_t bytes) {
#ifdef MADV_HUGEPAGE
  // Whole pages only: the rest may belong to others. A refusal is no failure.
  if (bytes >= kLarge) madvise(data, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);
#endif
}

}  // namespace

bool AlignedMemory::Allocate(size_t bytes) {
  Release();
  if (bytes == 0) return true;
  const size_t alignment = AlignmentOf(bytes);
  if (bytes > PTRDIFF_MAX - alignment) return false;
  data_ =
      ::operator new(AlignUp(bytes), std::align_val_t{alignment}, std::nothrow);
  if (data_ == nullptr) return false;
  bytes_ = bytes;
  AdviseHugePages(data_, bytes_);
  return true;
}

void AlignedMemory::Release() {
  if (data_ == nullptr) return;
  ::operator delete(data_, std::align_val_t{AlignmentOf(bytes_)});
  data_ = nullptr;
  bytes_ = 0;
}

}  // namespace mace
