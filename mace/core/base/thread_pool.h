// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_THREAD_POOL_H_
#define MACE_CORE_BASE_THREAD_POOL_H_

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "mace/public/mace.h"

namespace mace {

// Work split over threads by whoever has the work: an op asks for a range to
// be covered, and the pool calls back with parts of it. Workers spin for a
// short while after a call, since the next op follows within microseconds, and
// then sleep.
class ThreadPool {
 public:
  // Threads at work in a ParallelFor, the caller included; at least 1.
  virtual int thread_count() const = 0;

  // Calls function(begin, end, thread) until [0, count) is covered, each call
  // with at most `grain` consecutive items, and returns when all is done.
  // `thread` is in [0, thread_count()) and never used by two calls at once, so
  // it can index per-thread scratch. The function neither throws nor calls
  // ParallelFor. Which thread takes which part varies: results must not depend
  // on it.
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

  // A pool of `threads` (caller included); null when a thread can't be made.
  // threads <= 0 chooses the number of cores the policy selects.
  static std::unique_ptr<ThreadPool> Create(int threads,
                                            CPUAffinityPolicy policy);
  // Exactly `threads` (at least 1), even above the number of cores, bound to
  // none: for tests and for splitting work finer than the machine.
  static std::unique_ptr<ThreadPool> CreateUnbound(int threads);

  // Around a run: binds the calling thread to the pool's cores, and back to
  // where it was; neither under AFFINITY_NONE. In a process that inherited the
  // pool over fork(), BindCaller starts workers of its own first. The
  // destructor needs no such call.
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
