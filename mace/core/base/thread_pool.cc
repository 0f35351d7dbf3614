// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/thread_pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/cpu_topology.h"
#include "mace/core/base/logging.h"
#include "mace/core/base/subnormals.h"
#include "mace/core/base/wake_placement.h"

namespace mace {
namespace {

// How long a thread looks for work before it sleeps. The next operator of a
// network follows within about 10 us, and waking a sleeping thread takes 5 to
// 50 us; 2000 pauses are roughly 20 to 80 us.
constexpr int kSpins = 2000;

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ __volatile__("yield");
#endif
}

// A range divided into chunks of at most `grain` items. Chunk sizes differ by
// at most one unit, and if there are enough chunks, all threads get equally
// many. If items are numbers, not rows, a unit fills whole cache lines.
struct Chunks {
  int64_t count = 0;   // items
  int64_t unit = 1;    // items
  int64_t size = 0;    // units of every chunk
  int64_t larger = 0;  // the first `larger` chunks have one unit more
  int64_t chunks = 0;

  Chunks() = default;
  Chunks(int64_t items, int64_t grain, int64_t threads) : count(items) {
    constexpr int64_t kManyItems = 1024;
    constexpr int64_t kLine = 64;
    chunks = (items - 1) / grain + 1;
    if (chunks > threads) chunks = ((chunks - 1) / threads + 1) * threads;
    if (grain >= kManyItems && grain % kLine == 0) unit = kLine;
    const int64_t units = (items - 1) / unit + 1;
    chunks = std::min(chunks, units);
    size = units / chunks;
    larger = units % chunks;
  }
  int64_t Begin(int64_t chunk) const {
    const int64_t first = chunk * size + std::min(chunk, larger);
    return std::min(count, first * unit);
  }
};

bool BindThread(const cpu_set_t &set) {
  // 0 is the calling thread, not the process.
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

// The items of a call are divided into equal chunks of at most `grain` items.
// Each thread gets a contiguous run of equally many chunks; a thread that has
// finished its run takes chunks from the others. So, as long as all threads are
// equally fast, a thread processes the same part of the data in every operator,
// and big and little cores still finish together.
//
// `state_` says whether there is a call to join: bit 0 is set while it is open,
// the other bits of the low half count the threads inside, the high half is the
// number of the call. A thread enters only an open call, and the caller closes
// the call before it waits, so that it never waits for a thread that has not
// woken up yet.
class Crew {
 public:
  using Callback = void (*)(void *, int64_t, int64_t, int);

  Crew() = default;
  Crew(const Crew &) = delete;
  Crew &operator=(const Crew &) = delete;
  // Joins the workers; only in the process that started them.
  ~Crew();

  // Starts `threads` - 1 workers, on `cores` if they are `bound`. Returns false
  // if memory or threads are not available.
  bool Start(int threads, const cpu_set_t &cores, bool bound);

  // Like ThreadPool::Dispatch, for more than `grain` items.
  void Dispatch(int64_t count, int64_t grain, void *target, Callback callback);

  // Next in the list of crews whose threads stayed in the parent process.
  Crew *next_abandoned = nullptr;

 private:
  // Chunks dealt to one thread; on its own cache line.
  struct alignas(kMemoryAlignment) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  struct Job {
    Chunks chunks;
    void *target = nullptr;
    Callback callback = nullptr;
  };

  static constexpr uint64_t kOpen = 1;
  static constexpr uint64_t kOneInside = 2;
  static constexpr uint64_t kCall = uint64_t{1} << 32;
  static uint64_t CallOf(uint64_t state) { return state / kCall; }
  static bool AnyInside(uint64_t state) {
    return (state & (kCall - 1) & ~kOpen) != 0;
  }

  void WorkerLoop(int thread);
  // Waits for a call whose number is not `*seen`, and stores its number there;
  // returns false if the thread should stop.
  bool WaitForCall(int thread, uint64_t *seen);
  void WakeSleepers();
  bool Enter(uint64_t call);
  void Leave();
  void WaitForWorkers();
  void Work(int thread);

  // Guarded by mutex_.
  struct Sleep {
    bool asleep = false;
    WakePlacement placement;
  };

  std::vector<std::thread> workers_;
  std::vector<Sleep> sleeps_;  // by number of the worker, from 1
  std::vector<Share> shares_;
  // All data that joining a call needs, in one cache line: fetching another
  // line from the caller's core takes as long as the arithmetic of many
  // operators.
  alignas(kMemoryAlignment) std::atomic<uint64_t> state_{0};
  Job job_;
  // Calls do not write these.
  alignas(kMemoryAlignment) std::atomic<bool> stop_{false};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  int spins_ = kSpins;
  bool bound_ = false;
  cpu_set_t cores_;
};

bool Crew::Start(int threads, const cpu_set_t &cores, bool bound) {
  cores_ = cores;
  bound_ = bound;
  // With more threads than cores, a spinning thread prevents another one from
  // working.
  if (threads > static_cast<int>(std::thread::hardware_concurrency())) {
    spins_ = 0;
  }
  cpu_set_t usable = cores_;
  if (!bound_ && sched_getaffinity(0, sizeof(usable), &usable) != 0) {
    CPU_ZERO(&usable);
  }
  try {
    shares_ = std::vector<Share>(threads);
    sleeps_ = std::vector<Sleep>(threads);
    workers_.reserve(threads - 1);
    for (int i = 1; i < threads; ++i) {
      std::lock_guard<std::mutex> lock(mutex_);
      sleeps_[i].placement.Start(usable, threads, bound_);
      workers_.emplace_back([this, i] { WorkerLoop(i); });
    }
  } catch (...) {  // std::bad_alloc, std::system_error
    return false;  // the destructor joins the threads that were started
  }
  return true;
}

Crew::~Crew() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true);
  }
  work_.notify_all();
  for (std::thread &worker : workers_) worker.join();
}

void Crew::Dispatch(int64_t count,
                    int64_t grain,
                    void *target,
                    Callback callback) {
  const auto threads = static_cast<int64_t>(shares_.size());
  job_ = {Chunks(count, grain, threads), target, callback};
  const int64_t chunks = job_.chunks.chunks;
  int64_t next = 0;
  for (int64_t i = 0; i < threads; ++i) {
    Share &share = shares_[i];
    share.next.store(next, std::memory_order_relaxed);
    next += chunks / threads + (i < chunks % threads ? 1 : 0);
    share.end = next;
  }
  const uint64_t call = CallOf(state_.load(std::memory_order_relaxed)) + 1;
  // Sequentially consistent, like the sleeper's counter: either the sleeper
  // sees this call, or this thread sees the sleeper. An exchange, not a store:
  // on aarch64 emulated by QEMU 7.2 the pool hung with stores (2 of 2 repeated
  // runs, within 5 rounds) and not with exchanges (40 of 40 rounds). Presumably
  // QEMU moves a later load before the store-release, which the architecture
  // forbids.
  state_.exchange(call * kCall | kOpen);
  if (sleepers_.load() > 0) WakeSleepers();
  Work(0);
  state_.fetch_and(~kOpen);
  WaitForWorkers();
}

void Crew::WakeSleepers() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 1; i < sleeps_.size(); ++i) {
      if (sleeps_[i].asleep) sleeps_[i].placement.BeforeWake();
    }
  }
  work_.notify_all();
}

void Crew::Work(int thread) {
  const Job job = job_;
  const auto threads = static_cast<int>(shares_.size());
  for (int i = 0; i < threads; ++i) {
    const int owner = thread + i < threads ? thread + i : thread + i - threads;
    Share &share = shares_[owner];
    for (;;) {
      // Reading first leaves the cache line with its owner if no chunks remain.
      if (share.next.load(std::memory_order_relaxed) >= share.end) break;
      const int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= share.end) break;
      job.callback(job.target, job.chunks.Begin(chunk),
                   job.chunks.Begin(chunk + 1), thread);
    }
  }
}

bool Crew::Enter(uint64_t call) {
  uint64_t state = state_.load(std::memory_order_acquire);
  while ((state & kOpen) != 0 && CallOf(state) == call) {
    if (state_.compare_exchange_weak(state, state + kOneInside,
                                     std::memory_order_acq_rel)) {
      return true;
    }
  }
  return false;
}

void Crew::Leave() {
  const uint64_t state = state_.fetch_sub(kOneInside) - kOneInside;
  if (!AnyInside(state) && caller_sleeps_.load()) {
    std::lock_guard<std::mutex> lock(mutex_);
    done_.notify_one();
  }
}

void Crew::WaitForWorkers() {
  for (int i = 0; i < spins_; ++i) {
    if (!AnyInside(state_.load(std::memory_order_acquire))) return;
    Pause();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  caller_sleeps_.exchange(true);  // not a store: see Dispatch
  done_.wait(lock, [this] { return !AnyInside(state_.load()); });
  caller_sleeps_.store(false);
}

bool Crew::WaitForCall(int thread, uint64_t *seen) {
  const auto is_new = [this, seen] {
    return CallOf(state_.load()) != *seen || stop_.load();
  };
  for (int i = 0; i < spins_; ++i) {
    if (is_new()) break;
    Pause();
  }
  if (!is_new()) {
    std::unique_lock<std::mutex> lock(mutex_);
    Sleep &sleep = sleeps_[thread];
    sleep.asleep = true;
    sleepers_.fetch_add(1);
    work_.wait(lock, is_new);
    sleepers_.fetch_sub(1);
    sleep.asleep = false;
    sleep.placement.AfterWake();
  }
  *seen = CallOf(state_.load());
  return !stop_.load();
}

void Crew::WorkerLoop(int thread) {
  const FlushSubnormals flush;
  if (bound_ && !BindThread(cores_)) {
    LOG(WARNING) << "a worker thread can't be bound to the cores of the "
                    "affinity policy; it runs where the system puts it";
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sleeps_[thread].placement.Enter();
  }
  uint64_t call = 0;
  while (WaitForCall(thread, &call)) {
    if (Enter(call)) {
      Work(thread);
      Leave();
    }
  }
}

// Crews inherited through fork(). They stay reachable and are never freed: see
// SharedPool.
std::atomic<Crew *> abandoned_crews{nullptr};

void Abandon(Crew *crew) {
  crew->next_abandoned = abandoned_crews.load();
  while (!abandoned_crews.compare_exchange_weak(crew->next_abandoned, crew)) {
  }
}

// A pool can be used after fork(): the child has a copy of it, but none of its
// workers. The copied threads can't be joined or detached, their locks may be
// held, and destroying a condition variable waits for its waiters. So the child
// abandons everything that the workers share, some KB, and starts its own
// workers.
class SharedPool : public ThreadPool {
 public:
  explicit SharedPool(const ThreadPlacement &placement);
  SharedPool(const SharedPool &) = delete;
  SharedPool &operator=(const SharedPool &) = delete;
  ~SharedPool() override;

  // Returns false if memory or threads are not available.
  bool Start();

  int thread_count() const override { return threads_; }
  void BindCaller() override;
  void UnbindCaller() override;

 protected:
  void Dispatch(int64_t count,
                int64_t grain,
                void *target,
                Callback callback) override;

 private:
  void LeaveParent();

  const int threads_;
  const bool bound_;
  cpu_set_t cores_;
  // Null with one thread, and if the child of a fork can't start workers.
  std::unique_ptr<Crew> crew_;
  pid_t process_ = getpid();
  bool warned_ = false;
  cpu_set_t caller_cores_;
  bool caller_bound_ = false;
};

SharedPool::SharedPool(const ThreadPlacement &placement)
    : threads_(placement.threads), bound_(!placement.cores.empty()) {
  CPU_ZERO(&cores_);
  for (int core : placement.cores) {
    if (core < CPU_SETSIZE) CPU_SET(core, &cores_);
  }
}

SharedPool::~SharedPool() { LeaveParent(); }

bool SharedPool::Start() {
  if (threads_ == 1) return true;  // and there is no other thread to wait for
  try {
    auto crew = std::make_unique<Crew>();
    if (!crew->Start(threads_, cores_, bound_)) return false;
    crew_ = std::move(crew);
  } catch (...) {  // std::bad_alloc
    return false;
  }
  return true;
}

void SharedPool::LeaveParent() {
  const pid_t process = getpid();
  if (process == process_) return;
  process_ = process;
  if (crew_ != nullptr) Abandon(crew_.release());
}

void SharedPool::BindCaller() {
  LeaveParent();
  if (crew_ == nullptr && !Start() && !warned_) {
    warned_ = true;
    LOG(WARNING) << "the worker threads can't be started again in this process "
                    "made by fork(); the engine runs on one thread";
  }
  if (!bound_ || caller_bound_) return;
  if (sched_getaffinity(0, sizeof(caller_cores_), &caller_cores_) != 0) return;
  caller_bound_ = BindThread(cores_);
}

void SharedPool::UnbindCaller() {
  if (!caller_bound_) return;
  BindThread(caller_cores_);
  caller_bound_ = false;
}

void SharedPool::Dispatch(int64_t count,
                          int64_t grain,
                          void *target,
                          Callback callback) {
  if (count <= 0) return;
  const FlushSubnormals flush;
  if (crew_ != nullptr && count > grain) {
    crew_->Dispatch(count, grain, target, callback);
    return;
  }
  for (int64_t begin = 0; begin < count;) {
    const int64_t end = count - begin > grain ? begin + grain : count;
    callback(target, begin, end, 0);
    begin = end;
  }
}

}  // namespace

std::unique_ptr<ThreadPool> ThreadPool::Create(int threads,
                                               CPUAffinityPolicy policy) {
  try {
    const ThreadPlacement placement = PlaceThreadsHere(threads, policy);
    auto pool = std::make_unique<SharedPool>(placement);
    if (!pool->Start()) return nullptr;
    VLOG(1) << "thread pool: " << placement.threads << " threads, cores "
            << (placement.cores.empty() ? std::string("any")
                                        : CoreListToString(placement.cores));
    return pool;
  } catch (...) {  // std::bad_alloc
    return nullptr;
  }
}

std::unique_ptr<ThreadPool> ThreadPool::CreateUnbound(int threads) {
  try {
    const ThreadPlacement placement = {threads < 1 ? 1 : threads, {}};
    auto pool = std::make_unique<SharedPool>(placement);
    if (!pool->Start()) return nullptr;
    return pool;
  } catch (...) {  // std::bad_alloc
    return nullptr;
  }
}

}  // namespace mace
