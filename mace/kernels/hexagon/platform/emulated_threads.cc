// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads of qemu-hexagon, which are those of Linux.

#include "mace/kernels/hexagon/platform/emulated.h"
#include "mace/kernels/hexagon/platform/threads.h"

namespace mace::hexagon {
namespace {

// Of DSPs since v66, most have as many.
constexpr int kContexts = 4;

struct Thread {
  uint8_t *stack;
  uint32_t alive;
};
Thread threads[kMostStarted];

}  // namespace

bool StartThread(int index, void (*function)(void *), void *argument) {
  Thread &thread = threads[index];
  if (thread.stack == nullptr) {
    thread.stack =
        static_cast<uint8_t *>(emulated::MapStack(kThreadStackBytes));
    if (thread.stack == nullptr) return false;
  }
  thread.alive = 1;
  if (emulated::Clone(thread.stack + kThreadStackBytes, function, argument,
                      &thread.alive) >= 0) {
    return true;
  }
  thread.alive = 0;
  return false;
}

void JoinThread(int index) {
  uint32_t *alive = &threads[index].alive;
  while (__atomic_load_n(alive, __ATOMIC_ACQUIRE) != 0) {
    emulated::WaitForChange(alive, 1);
  }
}

void SleepWhile(uint32_t *word, uint32_t value) {
  emulated::WaitForChange(word, value);
}

void WakeSleepers(uint32_t *word) { emulated::Wake(word); }

int VectorContexts() { return kContexts; }

bool LockVectors() { return false; }

void UnlockVectors() {}

}  // namespace mace::hexagon
