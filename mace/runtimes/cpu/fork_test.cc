// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Pools and engines that a process inherits through fork(); their threads stay
// in the parent.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "mace/core/base/thread_pool.h"
#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MACE_NO_THREADS_AFTER_FORK 1
#endif
#endif

// How long a child may take before it counts as hanging.
constexpr unsigned kLimitSeconds = 20;

// Whether `function` ended successfully in a child process.
template <typename Function>
::testing::AssertionResult SucceedsInChild(Function function) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kLimitSeconds);
    _exit(function() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    return ::testing::AssertionFailure()
           << (WTERMSIG(status) == SIGALRM ? "hangs" : "ended by signal ")
           << WTERMSIG(status);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0
             ? ::testing::AssertionSuccess()
             : ::testing::AssertionFailure() << "status " << status;
}

// Workers spin for about 100 us after a call, and then sleep; the state of the
// child depends on which of the two they did.
void LetWorkersSleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

class ForkTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
#ifdef MACE_NO_THREADS_AFTER_FORK
    GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
#endif
    // QEMU before 8.0 ends a child that starts threads if its parent had some.
    if (std::getenv("MACE_EMULATED") != nullptr) {
      GTEST_SKIP() << "the emulator allows no threads after a fork";
    }
  }
  static void Pause() {
    if (GetParam()) LetWorkersSleep();
  }
};

// Whether the calling process uses all threads of the pool.
bool WorksOnAllThreads(ThreadPool *pool) {
  std::vector<std::atomic<int>> items(pool->thread_count());
  std::atomic<int> arrived{0};
  pool->BindCaller();
  // Each part waits for the others, so one thread cannot run two of them.
  pool->ParallelFor(pool->thread_count(), 1,
                    [&](int64_t begin, int64_t end, int) {
                      for (int64_t i = begin; i < end; ++i) ++items[i];
                      ++arrived;
                      while (arrived < pool->thread_count()) {
                        std::this_thread::yield();
                      }
                    });
  pool->UnbindCaller();
  for (const auto &item : items) {
    if (item != 1) return false;
  }
  return true;
}

TEST_P(ForkTest, AChildDestroysAPool) {
  auto pool = ThreadPool::CreateUnbound(3);
  ASSERT_TRUE(WorksOnAllThreads(pool.get()));
  Pause();
  EXPECT_TRUE(SucceedsInChild([&pool] {
    pool.reset();
    return true;
  }));
  EXPECT_TRUE(WorksOnAllThreads(pool.get()));
}

TEST_P(ForkTest, AChildWorksOnThreadsOfItsOwn) {
  auto pool = ThreadPool::CreateUnbound(3);
  ASSERT_TRUE(WorksOnAllThreads(pool.get()));
  Pause();
  EXPECT_TRUE(SucceedsInChild([&pool] {
    for (int round = 0; round < 3; ++round) {
      if (!WorksOnAllThreads(pool.get())) return false;
      LetWorkersSleep();
    }
    pool.reset();
    return true;
  }));
  EXPECT_TRUE(WorksOnAllThreads(pool.get()));
}

TEST_P(ForkTest, AChildOfAChildWorksToo) {
  auto pool = ThreadPool::CreateUnbound(2);
  ASSERT_TRUE(WorksOnAllThreads(pool.get()));
  Pause();
  EXPECT_TRUE(SucceedsInChild([&pool] {
    if (!WorksOnAllThreads(pool.get())) return false;
    Pause();
    return static_cast<bool>(SucceedsInChild([&pool] {
      const bool works = WorksOnAllThreads(pool.get());
      pool.reset();
      return works;
    }));
  }));
}

TEST_P(ForkTest, AChildLeavesTheAffinityOfTheParentsThreadsAlone) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
  if (CPU_COUNT(&own) < 2) GTEST_SKIP() << "needs two cores";
  auto pool = ThreadPool::CreateUnbound(2);
  std::atomic<int> arrived{0};
  std::atomic<pid_t> worker{0};
  pool->ParallelFor(2, 1, [&](int64_t, int64_t, int thread) {
    if (thread == 1) worker = static_cast<pid_t>(syscall(SYS_gettid));
    for (++arrived; arrived < 2;) std::this_thread::yield();
  });
  ASSERT_NE(worker, 0);
  Pause();
  EXPECT_TRUE(
      SucceedsInChild([&pool] { return WorksOnAllThreads(pool.get()); }));
  cpu_set_t seen;
  ASSERT_EQ(sched_getaffinity(worker, sizeof(seen), &seen), 0);
  EXPECT_TRUE(CPU_EQUAL(&seen, &own));
}

TEST_P(ForkTest, ParentAndChildRunAndDestroyOneEngine) {
  core_test::MakeOptions options;
  options.config.SetCPUThreadPolicy(2, AFFINITY_NONE);
  core_test::MadeEngine made = core_test::Make(core_test::Diamond(), options);
  ASSERT_OK(made.status);
  const std::vector<float> x = core_test::Ramp(12);
  const auto runs = [&made, &x] {
    core_test::Tensors outputs = {{"s", core_test::Room(12)}};
    const MaceStatus status =
        made.engine->Run({{"x", core_test::Floats({1, 2, 2, 3}, x)}}, &outputs);
    return status == MaceStatus::MACE_SUCCESS &&
           core_test::Values(outputs["s"]) == core_test::DiamondResult(x);
  };
  ASSERT_TRUE(runs());
  Pause();
  EXPECT_TRUE(SucceedsInChild([&] {
    const bool good = runs() && runs();
    made.engine.reset();
    return good;
  }));
  EXPECT_TRUE(SucceedsInChild([&] {
    made.engine.reset();
    return true;
  }));
  EXPECT_TRUE(runs());
}

INSTANTIATE_TEST_SUITE_P(WorkersAsleep, ForkTest, ::testing::Bool());

}  // namespace
}  // namespace mace
