// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/wake_placement.h"

#if defined(__linux__) && !defined(__ANDROID__)

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace mace {
namespace {

bool SetOwn(const cpu_set_t &set) {
  // 0 is the calling thread, not the process.
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

}  // namespace

// Uses the kernel's thread number: pthread_setaffinity_np of current headers
// requires glibc 2.34. Returns false if no other core is left.
bool WakePlacement::KeepOffThisCore() const {
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return false;
  cpu_set_t others = expected_;
  CPU_CLR(here, &others);
  return CPU_COUNT(&others) > 0 &&
         sched_setaffinity(thread_, sizeof(others), &others) == 0;
}

void WakePlacement::Start(const cpu_set_t &cores, int threads, bool bound) {
  expected_ = cores;
  bound_ = bound;
  // With fewer cores than threads, some threads must share a core.
  active_ = CPU_COUNT(&cores) >= threads && CPU_COUNT(&cores) > 1;
}

void WakePlacement::Enter() {
  if (!active_) return;
  thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  base_ = expected_;
  if (!bound_) {
    // A mask that someone chose is kept. If nobody chose one, the cores are
    // those of the control group, which may change over time; the mask of all
    // cores stands for whatever the group has.
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

void WakePlacement::BeforeWake() {
  // Several calls may follow before the worker runs; later ones find the mask
  // that the first one set.
  if (!active_ || moved_) return;
  cpu_set_t found;
  active_ = sched_getaffinity(thread_, sizeof(found), &found) == 0 &&
            CPU_EQUAL(&found, &expected_);
  moved_ = active_ && KeepOffThisCore();
}

void WakePlacement::AfterWake() {
  if (!moved_) return;
  moved_ = false;
  SetOwn(base_);
}

}  // namespace mace

#endif
