// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/guarded_buffer.h"

#include <cstring>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define MACE_OP_TEST_ASAN 1
#endif
#endif

namespace mace::op_test {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kGuard = 256;
constexpr uint8_t kGuardByte = 0xa5;

}  // namespace

GuardedBuffer::GuardedBuffer(size_t size, uint8_t poison) : size_(size) {
  base_ = new uint8_t[kAlignment + kGuard + size + kGuard];
  const uintptr_t first = reinterpret_cast<uintptr_t>(base_) + kGuard;
  data_ = base_ + kGuard + (kAlignment - first % kAlignment) % kAlignment;
  std::memset(base_, kGuardByte, static_cast<size_t>(data_ - base_));
  std::memset(data_ + size, kGuardByte, kGuard);
  Fill(poison);
  Forbid(true);
}

GuardedBuffer::~GuardedBuffer() {
  Forbid(false);
  delete[] base_;
}

void GuardedBuffer::Fill(uint8_t value) {
  if (size_ > 0) std::memset(data_, value, size_);
}

bool GuardedBuffer::Intact() const {
  Forbid(false);
  bool intact = true;
  for (const uint8_t *p = base_; p < data_; ++p) intact &= *p == kGuardByte;
  for (size_t i = 0; i < kGuard; ++i) {
    intact &= data_[size_ + i] == kGuardByte;
  }
  Forbid(true);
  return intact;
}

void GuardedBuffer::Forbid(bool forbid) const {
#if defined(MACE_OP_TEST_ASAN)
  const size_t before = static_cast<size_t>(data_ - base_);
  if (forbid) {
    ASAN_POISON_MEMORY_REGION(base_, before);
    ASAN_POISON_MEMORY_REGION(data_ + size_, kGuard);
  } else {
    ASAN_UNPOISON_MEMORY_REGION(base_, before);
    ASAN_UNPOISON_MEMORY_REGION(data_ + size_, kGuard);
  }
#else
  static_cast<void>(forbid);
#endif
}

}  // namespace mace::op_test
