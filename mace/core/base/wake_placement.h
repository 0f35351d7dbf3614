// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Keeps a worker that is being woken off the core of the thread that wakes it.
//
// The scheduler chooses the waking thread's core if it believes that the other
// cores are busy. In virtual machines it often does: an idle virtual core has
// returned its time to the host, and looks like one that the host has preempted
// (vcpu_is_preempted). Both threads then share a core until the load is
// balanced, milliseconds later: with 2 threads on 2 idle cores under KVM, 7 of
// 8 first runs of MobileNetV1 took 6 ms instead of 3.
//
// Therefore the waking thread removes its core from the worker's affinity mask,
// and the worker restores its mask when it runs. If anyone else changes the
// mask, this class no longer touches it.

#ifndef MACE_CORE_BASE_WAKE_PLACEMENT_H_
#define MACE_CORE_BASE_WAKE_PLACEMENT_H_

#include <sched.h>
#include <sys/types.h>

namespace mace {

#if defined(__linux__) && !defined(__ANDROID__)

// State of one worker. Calls must not overlap; the pool's lock prevents it.
class WakePlacement {
 public:
  // Called by the thread that creates the worker. `cores` are the cores of the
  // pool's `threads` threads; if they are not `bound`, the mask of the calling
  // thread.
  void Start(const cpu_set_t &cores, int threads, bool bound);
  // Called by the worker, before anything else.
  void Enter();
  // Called by a thread that is about to wake the worker. The worker sleeps, or
  // was woken and has not run yet.
  void BeforeWake();
  // Called by the worker after it was woken.
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

// Android moves programs between sets of cores itself; our own mask would keep
// a worker in the current set.
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
