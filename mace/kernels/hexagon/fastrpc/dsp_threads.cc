// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads of a DSP's system.

#include "mace/kernels/hexagon/fastrpc/dsp_system.h"
#include "mace/kernels/hexagon/platform/threads.h"

namespace mace::hexagon {
namespace {

constexpr uint32_t kVectorsOf128Bytes = 1;
constexpr int kAll = 0x7fffffff;

struct Thread {
  void (*function)(void *);
  void *argument;
  uint32_t number;
};
Thread threads[kMostStarted];
alignas(128) uint8_t stacks[kMostStarted][kThreadStackBytes];

bool HasThreads() {
  return qurt_thread_create != nullptr && qurt_thread_join != nullptr &&
         qurt_thread_exit != nullptr && qurt_thread_get_id != nullptr &&
         qurt_thread_get_priority != nullptr && qurt_futex_wait != nullptr &&
         qurt_futex_wake != nullptr;
}

void Begin(void *thread) {
  const auto *t = static_cast<const Thread *>(thread);
  t->function(t->argument);
  qurt_thread_exit(0);
}

}  // namespace

bool StartThread(int index, void (*function)(void *), void *argument) {
  // A thread that waits for vectors would never get them if the calling thread,
  // which waits for it, has the last ones.
  if (!HasThreads() || index + 1 >= VectorContexts()) return false;
  Thread &thread = threads[index];
  thread.function = function;
  thread.argument = argument;
  QurtThreadAttributes attributes = {};
  constexpr char kName[] = "mace_hexagon";
  for (unsigned i = 0; i < sizeof(kName); ++i) attributes.name[i] = kName[i];
  const int priority = qurt_thread_get_priority(qurt_thread_get_id());
  if (priority < 0) return false;
  attributes.priority = static_cast<uint16_t>(priority);
  attributes.bus_priority = 255;
  attributes.test_id = 0xfffe;
  attributes.stack_bytes = kThreadStackBytes;
  attributes.stack = stacks[index];
  return qurt_thread_create(&thread.number, &attributes, Begin, &thread) == 0;
}

void JoinThread(int index) {
  int status = 0;
  // A thread that has ended already cannot be waited for.
  qurt_thread_join(threads[index].number, &status);
}

void SleepWhile(uint32_t *word, uint32_t value) {
  qurt_futex_wait(word, static_cast<int>(value));
}

void WakeSleepers(uint32_t *word) { qurt_futex_wake(word, kAll); }

int VectorContexts() {
  if (qurt_hvx_get_units == nullptr) return 1;
  const int contexts = (qurt_hvx_get_units() >> 8) & 0xff;
  return contexts > 1 ? contexts : 1;
}

bool LockVectors() {
  return qurt_hvx_lock != nullptr && qurt_hvx_unlock != nullptr &&
         qurt_hvx_lock(kVectorsOf128Bytes) == 0;
}

void UnlockVectors() { qurt_hvx_unlock(); }

}  // namespace mace::hexagon
