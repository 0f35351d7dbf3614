// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/testing/failing_allocation.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// The number of allocations until the one that fails; 0 if none should fail.
std::atomic<int64_t> g_countdown{0};
// Whether later allocations fail, too.
std::atomic<bool> g_fail_on{false};
std::atomic<bool> g_failed{false};

bool ShouldFail() {
  if (g_countdown.load() <= 0) return g_failed.load() && g_fail_on.load();
  if (g_countdown.fetch_sub(1) != 1) return false;
  g_failed = true;
  return true;
}

void *Allocate(size_t size, size_t alignment) noexcept {
  if (ShouldFail()) return nullptr;
  if (size == 0) size = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  return std::aligned_alloc(alignment,
                            (size + alignment - 1) / alignment * alignment);
}

void *AllocateOrThrow(size_t size, size_t alignment) {
  void *memory = Allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void *operator new(size_t size) { return AllocateOrThrow(size, 1); }
void *operator new[](size_t size) { return AllocateOrThrow(size, 1); }
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return Allocate(size, 1);
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return Allocate(size, 1);
}
void *operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void *operator new(size_t size,
                   std::align_val_t alignment,
                   const std::nothrow_t &) noexcept {
  return Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace mace {
namespace core_test {

FailingAllocation::FailingAllocation(int64_t n, bool fail_on) {
  g_fail_on = fail_on;
  g_failed = false;
  g_countdown = n;
}

bool FailingAllocation::Disarm() {
  g_countdown = 0;
  return g_failed.exchange(false);
}

}  // namespace core_test
}  // namespace mace
