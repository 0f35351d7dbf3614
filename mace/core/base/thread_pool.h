// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_THREAD_POOL_H_
#define MACE_CORE_BASE_THREAD_POOL_H_

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "mace/public/mace_config.h"

namespace mace {

// Splits work over threads: an op calls ParallelFor with a range, and the pool
// calls a function for parts of the range. Workers spin for a short while after
// a call, since the next op follows within microseconds, and then sleep.
class ThreadPool {
 public:
  // Number of threads that run a ParallelFor, including the caller; at least 1.
  virtual int thread_count() const = 0;

  // Calls function(begin, end, thread) until [0, count) is covered, each call
  // with at most `grain` consecutive items, and returns when all calls are
  // done. `thread` is in [0, thread_count()) and never used by two calls at
  // once, so it can index per-thread scratch. The function must not throw or
  // call ParallelFor. Which thread runs which part varies: results must not
  // depend on it. All flush subnormal results to 0 (subnormals.h).
  template <typename Function>
  void ParallelFor(int64_t count, int64_t grain, Function &&function) {
    using Target = std::remove_reference_t<Function>;
    Dispatch(count, grain > 0 ? grain : 1,
             const_cast<void *>(static_cast<const void *>(&function)),
             [](void *target, int64_t begin, int64_t end, int thread) {
               (*static_cast<Target *>(target))(begin, end, thread);
             });
  }

  virtual ~ThreadPool() = default;

  // A pool of `threads` (including the caller); null if a thread can't be
  // created. threads <= 0 means as many as the policy selects cores.
  static std::unique_ptr<ThreadPool> Create(int threads,
                                            CPUAffinityPolicy policy);
  // Exactly `threads` (at least 1), even if there are fewer cores, and bound to
  // no core: for tests and for splitting work into more parts than cores.
  static std::unique_ptr<ThreadPool> CreateUnbound(int threads);

  // Called before and after a run: BindCaller binds the calling thread to the
  // pool's cores, UnbindCaller restores its previous affinity. With
  // AFFINITY_NONE neither changes it. In a process that inherited the pool over
  // fork(), BindCaller first starts new workers. The destructor may be called
  // without it.
  virtual void BindCaller() {}
  virtual void UnbindCaller() {}

 protected:
  using Callback = void (*)(void *, int64_t, int64_t, int);
  virtual void Dispatch(int64_t count,
                        int64_t grain,
                        void *target,
                        Callback callback) = 0;
};

}  // namespace mace

#endif  // MACE_CORE_BASE_THREAD_POOL_H_
