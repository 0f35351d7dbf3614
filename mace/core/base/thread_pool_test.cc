// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace mace {
namespace {

class ThreadPoolTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    pool_ = ThreadPool::CreateUnbound(GetParam());
    ASSERT_NE(pool_, nullptr);
    ASSERT_EQ(pool_->thread_count(), GetParam());
  }
  std::unique_ptr<ThreadPool> pool_;
};

TEST_P(ThreadPoolTest, CoversEveryItemOnceInPartsOfAtMostGrain) {
  for (int64_t count : {0, 1, 2, 7, 64, 1000, 100001}) {
    for (int64_t grain : {1, 3, 64, 5000, 16384}) {
      std::vector<std::atomic<int>> visits(count);
      std::atomic<bool> good{true};
      pool_->ParallelFor(count, grain,
                         [&](int64_t begin, int64_t end, int thread) {
                           if (end - begin > grain || begin >= end)
                             good = false;
                           if (thread < 0 || thread >= pool_->thread_count())
                             good = false;
                           for (int64_t i = begin; i < end; ++i)
                             visits[i].fetch_add(1);
                         });
      EXPECT_TRUE(good);
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(visits[i], 1) << i;
    }
  }
}

// Otherwise threads would wait for the one with the largest part.
TEST_P(ThreadPoolTest, PartsAreAboutAsLargeAsEachOther) {
  const int64_t threads = GetParam();
  if (threads == 1) return;  // which gets the largest parts possible
  const int64_t count = 196 * threads - 1;
  for (int64_t grain : {40, 60, 100, 195}) {
    std::atomic<int64_t> parts{0};
    std::atomic<int64_t> least{count};
    std::atomic<int64_t> most{0};
    pool_->ParallelFor(count, grain, [&](int64_t begin, int64_t end, int) {
      parts.fetch_add(1);
      const int64_t size = end - begin;
      for (int64_t x = least;
           size < x && !least.compare_exchange_weak(x, size);) {
      }
      for (int64_t x = most;
           size > x && !most.compare_exchange_weak(x, size);) {
      }
    });
    EXPECT_EQ(parts % threads, 0) << grain;
    EXPECT_LE(most, grain);
    EXPECT_LE(most - least, 1) << grain;
  }
}

TEST_P(ThreadPoolTest, AThreadNumberIsNeverUsedTwiceAtOnce) {
  std::vector<std::atomic<int>> inside(pool_->thread_count());
  std::atomic<bool> clash{false};
  for (int round = 0; round < 50; ++round) {
    pool_->ParallelFor(64, 1, [&](int64_t, int64_t, int thread) {
      if (inside[thread].fetch_add(1) != 0) clash = true;
      inside[thread].fetch_sub(1);
    });
  }
  EXPECT_FALSE(clash);
}

// Plain memory, so that a data race or a call that returns early is detected
// (the thread sanitizer reports it even if the sums are correct).
TEST_P(ThreadPoolTest, WritesAreVisibleAfterTheCallAndCallsFollowInOrder) {
  std::vector<int64_t> values(512, 0);
  for (int round = 0; round < 2000; ++round) {
    pool_->ParallelFor(static_cast<int64_t>(values.size()), 16,
                       [&values](int64_t begin, int64_t end, int) {
                         for (int64_t i = begin; i < end; ++i) ++values[i];
                       });
  }
  for (int64_t value : values) ASSERT_EQ(value, 2000);
}

TEST_P(ThreadPoolTest, WakesUpAfterASleep) {
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pool_->ParallelFor(
        100, 1, [&sum](int64_t begin, int64_t, int) { sum.fetch_add(begin); });
  }
  EXPECT_EQ(sum, 5 * 4950);
}

TEST_P(ThreadPoolTest, ASlowPartDoesNotHoldUpTheOthers) {
  std::atomic<int> done{0};
  pool_->ParallelFor(32, 1, [&](int64_t begin, int64_t, int) {
    if (begin == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    done.fetch_add(1);
  });
  EXPECT_EQ(done, 32);
}

INSTANTIATE_TEST_SUITE_P(Threads,
                         ThreadPoolTest,
                         ::testing::Values(1, 2, 3, 8));

TEST(ThreadPoolAffinityTest, BindsTheCallerOnlyAroundARun) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  auto pool = ThreadPool::Create(1, AFFINITY_HIGH_PERFORMANCE);
  ASSERT_NE(pool, nullptr);
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &set));
  pool->BindCaller();
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_EQ(CPU_COUNT(&set), 1);
  pool->UnbindCaller();
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &set));
}

TEST(ThreadPoolAffinityTest, NeverMakesMoreThreadsThanCores) {
  auto pool = ThreadPool::Create(1000, AFFINITY_NONE);
  ASSERT_NE(pool, nullptr);
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  EXPECT_LE(pool->thread_count(), CPU_COUNT(&set));
}

// The worker's affinity mask, read in calls for which it had to be woken.
class SleepingWorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(sched_getaffinity(0, sizeof(own_), &own_), 0);
    if (CPU_COUNT(&own_) < 2) GTEST_SKIP() << "needs two cores";
    pool_ = ThreadPool::CreateUnbound(2);
    ASSERT_NE(pool_, nullptr);
  }
  // Calls `function` on the worker after a pause in which the worker fell
  // asleep.
  template <typename Function>
  void OnWorker(Function function) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<bool> done{false};
    pool_->ParallelFor(2, 1, [&](int64_t, int64_t, int thread) {
      if (thread == 0) {
        while (!done) std::this_thread::yield();
      } else if (!done) {
        function();
        done = true;
      }
    });
  }
  cpu_set_t own_;
  std::unique_ptr<ThreadPool> pool_;
};

TEST_F(SleepingWorkerTest, MayUseAllCoresOnceItRuns) {
  for (int round = 0; round < 5; ++round) {
    cpu_set_t seen;
    CPU_ZERO(&seen);
    OnWorker([&] { sched_getaffinity(0, sizeof(seen), &seen); });
    EXPECT_TRUE(CPU_EQUAL(&seen, &own_)) << round;
  }
}

TEST_F(SleepingWorkerTest, MayUseAllCoresWhenCalledAgainBeforeItRuns) {
  for (int round = 0; round < 5; ++round) {
    // The caller completes all of these before the worker is awake.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int i = 0; i < 3; ++i) pool_->ParallelFor(2, 1, [](auto...) {});
    cpu_set_t seen;
    CPU_ZERO(&seen);
    OnWorker([&] { sched_getaffinity(0, sizeof(seen), &seen); });
    EXPECT_TRUE(CPU_EQUAL(&seen, &own_)) << round;
  }
}

TEST_F(SleepingWorkerTest, KeepsAMaskThatSomeoneElseSet) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &own_)) CPU_SET(core, &one);
  }
  OnWorker([&] { sched_setaffinity(0, sizeof(one), &one); });
  for (int round = 0; round < 3; ++round) {
    cpu_set_t seen;
    CPU_ZERO(&seen);
    OnWorker([&] { sched_getaffinity(0, sizeof(seen), &seen); });
    EXPECT_TRUE(CPU_EQUAL(&seen, &one)) << round;
  }
}

TEST(ThreadPool, WorkersInheritAMaskThatSomeoneChose) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &own)) CPU_SET(core, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  {
    const auto pool = ThreadPool::CreateUnbound(3);
    std::atomic<bool> kept{true};
    pool->ParallelFor(64, 1, [&](int64_t, int64_t, int) {
      cpu_set_t seen;
      sched_getaffinity(0, sizeof(seen), &seen);
      if (!CPU_EQUAL(&seen, &one)) kept = false;
    });
    EXPECT_TRUE(kept);
  }
  sched_setaffinity(0, sizeof(own), &own);
}

}  // namespace
}  // namespace mace
