// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/wake_placement.h"

#if defined(__linux__) && !defined(__ANDROID__)

#include <pthread.h>

#include <cstring>

namespace mace {
namespace {

bool SetOwn(const cpu_set_t &set) {
  // 0 is the calling thread, not the process.
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

// False if no other core is left.
bool KeepOffThisCore(std::thread *worker, const cpu_set_t &cores) {
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return false;
  cpu_set_t others = cores;
  CPU_CLR(here, &others);
  return CPU_COUNT(&others) > 0 &&
         pthread_setaffinity_np(worker->native_handle(), sizeof(others),
                                &others) == 0;
}

}  // namespace

void WakePlacement::Start(std::thread *worker,
                          const cpu_set_t &cores,
                          int threads,
                          bool bound) {
  // With fewer cores than threads some have to share one.
  if (CPU_COUNT(&cores) < threads) return;
  expected_ = cores;
  bound_ = bound;
  active_ = KeepOffThisCore(worker, cores);
}

void WakePlacement::Enter() {
  if (!active_) return;
  base_ = expected_;
  if (!bound_) {
    // A mask that someone chose stays. Where none did, the cores are those of
    // the control group, which may get others in time; the mask of all cores
    // means whatever these are.
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof(all));
    cpu_set_t found;
    if (SetOwn(all) && sched_getaffinity(0, sizeof(found), &found) == 0 &&
        CPU_EQUAL(&found, &expected_)) {
      base_ = all;
      return;
    }
  }
  SetOwn(base_);
}

void WakePlacement::BeforeWake(std::thread *worker) {
  if (!active_) return;
  cpu_set_t found;
  active_ = pthread_getaffinity_np(worker->native_handle(), sizeof(found),
                                   &found) == 0 &&
            CPU_EQUAL(&found, &expected_);
  moved_ = active_ && KeepOffThisCore(worker, expected_);
}

void WakePlacement::AfterWake() {
  if (!moved_) return;
  moved_ = false;
  SetOwn(base_);
}

}  // namespace mace

#endif
