// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/subnormals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "mace/core/base/thread_pool.h"

namespace mace {
namespace {

#if defined(__x86_64__)
constexpr bool kFlushes = true;
#else
constexpr bool kFlushes = false;
#endif

// 2^-127, unless that becomes 0. Not computed by the compiler.
float HalfOfLeastNormal() {
  volatile float least = 0x1p-126f;
  volatile float half = 0.5f;
  return least * half;
}

TEST(SubnormalsTest, AreZeroInTheScopeAlone) {
  const float before = HalfOfLeastNormal();
  {
    const FlushSubnormals flush;
    if (kFlushes) EXPECT_EQ(HalfOfLeastNormal(), 0.0f);
    {
      const FlushSubnormals again;
    }
    if (kFlushes) EXPECT_EQ(HalfOfLeastNormal(), 0.0f);
    // As operands they count.
    volatile float tiny = 0x1p-140f;
    volatile float large = 0x1p100f;
    if (kFlushes) EXPECT_EQ(tiny * large, 0x1p-40f);
  }
  EXPECT_EQ(HalfOfLeastNormal(), before);
  if (kFlushes) EXPECT_EQ(before, 0x1p-127f);
}

TEST(SubnormalsTest, AreZeroInEveryThreadOfAPool) {
  for (int threads : {1, 3}) {
    const std::unique_ptr<ThreadPool> pool = ThreadPool::CreateUnbound(threads);
    ASSERT_NE(pool, nullptr);
    std::atomic<int> flushed{0};
    pool->ParallelFor(64, 1, [&](int64_t begin, int64_t end, int /*thread*/) {
      for (int64_t i = begin; i < end; ++i) {
        flushed += HalfOfLeastNormal() == 0.0f ? 1 : 0;
      }
    });
    if (kFlushes) EXPECT_EQ(flushed.load(), 64);
  }
  if (kFlushes) EXPECT_EQ(HalfOfLeastNormal(), 0x1p-127f);
}

}  // namespace
}  // namespace mace
