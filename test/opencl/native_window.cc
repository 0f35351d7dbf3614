// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/native_window.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

struct AHardwareBuffer {
  AHardwareBuffer_Desc desc;
  int references;
  void *memory;
};

namespace {

constexpr size_t kAlignment = 4096;  // as pages of a phone
constexpr size_t kGuardBytes = 4096;
constexpr int kGuard = 0xEE;

struct Buffers {
  std::mutex mutex;
  std::deque<AHardwareBuffer> all;
  int misuses = 0;
};

Buffers &Get() {
  static auto *const buffers = new Buffers;  // used until the process ends
  return *buffers;
}

// Null if there is none that somebody has a reference to, which is counted.
// With the lock held.
AHardwareBuffer *Find(const AHardwareBuffer *buffer) {
  for (AHardwareBuffer &known : Get().all) {
    if (&known == buffer && known.references > 0) return &known;
  }
  ++Get().misuses;
  return nullptr;
}

int Allocate(const AHardwareBuffer_Desc *desc, AHardwareBuffer **buffer) {
  const bool is_blob = desc->format == AHARDWAREBUFFER_FORMAT_BLOB;
  if (is_blob && (desc->height != 1 || desc->layers != 1)) return -22;
  const size_t bytes = static_cast<size_t>(desc->width) * desc->height *
                       desc->layers * (is_blob ? 1 : 4);
  const size_t pages = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void *memory = std::aligned_alloc(kAlignment, pages + kGuardBytes);
  if (memory == nullptr) return -12;
  std::memset(memory, 0, bytes);
  std::memset(static_cast<char *>(memory) + bytes, kGuard,
              pages + kGuardBytes - bytes);
  Buffers &buffers = Get();
  const std::lock_guard<std::mutex> lock(buffers.mutex);
  buffers.all.push_back({*desc, 1, memory});
  *buffer = &buffers.all.back();
  return 0;
}

void Acquire(AHardwareBuffer *buffer) {
  const std::lock_guard<std::mutex> lock(Get().mutex);
  if (AHardwareBuffer *found = Find(buffer)) ++found->references;
}

void Release(AHardwareBuffer *buffer) {
  const std::lock_guard<std::mutex> lock(Get().mutex);
  if (AHardwareBuffer *found = Find(buffer)) --found->references;
}

void Describe(const AHardwareBuffer *buffer, AHardwareBuffer_Desc *desc) {
  const std::lock_guard<std::mutex> lock(Get().mutex);
  const AHardwareBuffer *found = Find(buffer);
  *desc = found == nullptr ? AHardwareBuffer_Desc() : found->desc;
}

void *Memory(AHardwareBuffer *buffer) {
  const std::lock_guard<std::mutex> lock(Get().mutex);
  const AHardwareBuffer *found = Find(buffer);
  return found == nullptr ? nullptr : found->memory;
}

int References(const AHardwareBuffer *buffer) {
  const std::lock_guard<std::mutex> lock(Get().mutex);
  for (const AHardwareBuffer &known : Get().all) {
    if (&known == buffer) return known.references;
  }
  return 0;
}

int Misuses() {
  const std::lock_guard<std::mutex> lock(Get().mutex);
  return Get().misuses;
}

}  // namespace

#define MACE_EXPORT extern "C" __attribute__((visibility("default")))

MACE_EXPORT const MaceTestNativeWindow *mace_test_native_window() {
  static const MaceTestNativeWindow functions = {
      Allocate, Acquire, Release, Describe, Memory, References, Misuses};
  return &functions;
}
// Those of the NDK that the code under test asks for.
MACE_EXPORT void AHardwareBuffer_acquire(AHardwareBuffer *buffer) {
  Acquire(buffer);
}
MACE_EXPORT void AHardwareBuffer_release(AHardwareBuffer *buffer) {
  Release(buffer);
}
MACE_EXPORT void AHardwareBuffer_describe(const AHardwareBuffer *buffer,
                                          AHardwareBuffer_Desc *desc) {
  Describe(buffer, desc);
}
