// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/executor/workers.h"

#include "mace/kernels/hexagon/platform/threads.h"

namespace mace::hexagon {
namespace {

struct Workers {
  uint32_t taken;
  uint32_t wanted;  // of the last start
  uint32_t started;

  // Written before `round` changes, and read until `busy` is 0.
  struct {
    int64_t count;
    int64_t unit;
    int64_t each;   // units of a part
    int64_t extra;  // parts that have one more
    WorkPart part;  // null: threads end
    const void *work;
  } job;
  uint32_t round;
  uint32_t busy;  // workers that have not answered in this round
};
Workers workers;

uint32_t Load(const uint32_t *word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

// The part of the thread of that number, if it has any.
void RunPart(int64_t number) {
  const auto &job = workers.job;
  const int64_t more = number < job.extra ? number : job.extra;
  const int64_t units = job.each + (number < job.extra ? 1 : 0);
  if (units == 0) return;
  const int64_t begin = (number * job.each + more) * job.unit;
  const int64_t last = begin + units * job.unit;
  job.part(job.work, begin, last < job.count ? last : job.count);
}

void Serve(void *argument) {
  const auto number =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(argument));
  for (uint32_t seen = 0;;) {
    uint32_t now = Load(&workers.round);
    while (now == seen) {
      SleepWhile(&workers.round, seen);
      now = Load(&workers.round);
    }
    seen = now;
    const bool ends = workers.job.part == nullptr;
    if (!ends) {
      const bool is_locked = LockVectors();
      RunPart(number);
      if (is_locked) UnlockVectors();
    }
    if (__atomic_sub_fetch(&workers.busy, 1, __ATOMIC_ACQ_REL) == 0) {
      WakeSleepers(&workers.busy);
    }
    if (ends) return;
  }
}

void StartRound() {
  __atomic_store_n(&workers.busy, workers.started, __ATOMIC_RELEASE);
  __atomic_store_n(&workers.round, workers.round + 1, __ATOMIC_RELEASE);
  WakeSleepers(&workers.round);
}

void FinishRound() {
  for (uint32_t busy = Load(&workers.busy); busy != 0;
       busy = Load(&workers.busy)) {
    SleepWhile(&workers.busy, busy);
  }
}

}  // namespace

int StartWorkers(uint32_t threads) {
  if (threads == 0) threads = static_cast<uint32_t>(VectorContexts());
  if (threads > kMostStarted + 1) threads = kMostStarted + 1;
  if (threads != workers.wanted) {
    StopWorkers();
    workers.wanted = threads;
    while (workers.started + 1 < threads &&
           StartThread(static_cast<int>(workers.started), Serve,
                       reinterpret_cast<void *>(
                           static_cast<uintptr_t>(workers.started + 1)))) {
      ++workers.started;
    }
  }
  return static_cast<int>(workers.started) + 1;
}

void StopWorkers() {
  workers.wanted = 0;
  if (workers.started == 0) return;
  workers.job.part = nullptr;
  StartRound();
  for (uint32_t i = 0; i < workers.started; ++i) {
    JoinThread(static_cast<int>(i));
  }
  workers.started = 0;
  // Where new ones begin.
  workers.round = 0;
}

bool TakeWorkers() {
  return __atomic_exchange_n(&workers.taken, 1, __ATOMIC_ACQUIRE) == 0;
}

void ReturnWorkers() { __atomic_store_n(&workers.taken, 0, __ATOMIC_RELEASE); }

void DivideWork(int64_t count, int64_t unit, WorkPart part, const void *work) {
  if (count <= unit || workers.started == 0) {
    part(work, 0, count);
    return;
  }
  const int64_t threads = workers.started + 1;
  const int64_t units = unit == 1 ? count : (count + unit - 1) / unit;
  const int64_t each = units / threads;
  workers.job = {count, unit, each, units - each * threads, part, work};
  StartRound();
  RunPart(0);
  FinishRound();
}

}  // namespace mace::hexagon
