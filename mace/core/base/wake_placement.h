// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Keeps a worker that is being woken off the core of the thread that wakes it.
//
// A scheduler prefers that core if it believes the others to be taken, and in
// virtual machines it does: a core that is idle has given its time back to the
// host, which looks like one that the host has taken away (vcpu_is_preempted).
// Both threads then share a core until the load is balanced, milliseconds
// later: with 2 threads on 2 idle cores under KVM, 7 of 8 first runs of
// MobileNetV1 took 6 ms instead of 3.
//
// So the waking thread takes its core out of the worker's affinity mask, and
// the worker puts its mask back when it runs. A mask that someone else changed
// is left alone from then on.

#ifndef MACE_CORE_BASE_WAKE_PLACEMENT_H_
#define MACE_CORE_BASE_WAKE_PLACEMENT_H_

#include <sched.h>
#include <sys/types.h>

namespace mace {

#if defined(__linux__) && !defined(__ANDROID__)

// Of one worker. Calls must not overlap; the pool's lock sees to that.
class WakePlacement {
 public:
  // By the thread that makes the worker. `cores` are those of `threads`
  // threads, the mask of the calling thread if they are not `bound`.
  void Start(const cpu_set_t &cores, int threads, bool bound);
  // By the worker, before anything else.
  void Enter();
  // By a thread that is about to wake the worker, which sleeps or was woken and
  // has not run yet.
  void BeforeWake();
  // By the worker when it was woken.
  void AfterWake();

 private:
  bool KeepOffThisCore() const;

  bool active_ = false;
  bool bound_ = false;
  bool moved_ = false;
  pid_t thread_ = 0;    // the worker, as the kernel numbers it
  cpu_set_t expected_;  // the mask that the system reports while it is ours
  cpu_set_t base_;      // the mask to set, which may be wider: see Enter
};

#else

// Android moves programs between sets of cores itself; a mask of our own would
// hold a worker in the set of the moment.
class WakePlacement {
 public:
  void Start(const cpu_set_t &, int, bool) {}
  void Enter() {}
  void BeforeWake() {}
  void AfterWake() {}
};

#endif

}  // namespace mace

#endif  // MACE_CORE_BASE_WAKE_PLACEMENT_H_
