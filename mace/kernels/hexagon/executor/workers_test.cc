// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of work: each piece is computed once, by as many threads as there are.

#include "mace/kernels/hexagon/executor/workers.h"

#include "mace/kernels/hexagon/platform/expect.h"
#include "mace/kernels/hexagon/platform/threads.h"

namespace mace::hexagon {
namespace {

constexpr int kMostCount = 40;
constexpr int kMostThreads = kMostStarted + 1;

struct Work {
  int64_t unit;
  uint32_t parts;
  uint32_t longest;
  uint32_t wrong;  // parts that begin elsewhere
  uint32_t times[kMostCount];
};

void Compute(const void *work, int64_t begin, int64_t end) {
  // Of all threads.
  auto *w = static_cast<Work *>(const_cast<void *>(work));
  __atomic_add_fetch(&w->parts, 1, __ATOMIC_RELAXED);
  if (begin % w->unit != 0 || begin >= end) {
    __atomic_add_fetch(&w->wrong, 1, __ATOMIC_RELAXED);
  }
  // The first part is that of this thread, and no other has more.
  if (begin == 0) w->longest = static_cast<uint32_t>(end);
  for (int64_t i = begin; i < end; ++i) {
    __atomic_add_fetch(&w->times[i], 1, __ATOMIC_RELAXED);
  }
}

void TestDivision(int threads, int64_t count, int64_t unit) {
  Work work = {};
  work.unit = unit;
  DivideWork(count, unit, Compute, &work);
  const int64_t units = (count + unit - 1) / unit;
  MACE_EXPECT_EQ(work.parts, units < threads ? units : threads);
  MACE_EXPECT_EQ(work.wrong, 0);
  const int64_t longest = (units + threads - 1) / threads * unit;
  MACE_EXPECT_EQ(work.longest, longest < count ? longest : count);
  int wrong = 0;
  for (int i = 0; i < kMostCount; ++i) {
    wrong += work.times[i] != (i < count ? 1 : 0) ? 1 : 0;
  }
  MACE_EXPECT_EQ(wrong, 0);
}

void TestThreads(int threads) {
  MACE_EXPECT_EQ(StartWorkers(static_cast<uint32_t>(threads)), threads);
  // Again: they are there.
  MACE_EXPECT_EQ(StartWorkers(static_cast<uint32_t>(threads)), threads);
  for (int count = 1; count <= kMostCount; count += count < 10 ? 1 : 7) {
    for (int unit = 1; unit <= 8; unit *= 2) {
      TestDivision(threads, count, unit);
    }
  }
}

// As much stack as threads have, but what the calls need.
void UseStack(const void *work, int64_t /*begin*/, int64_t /*end*/) {
  constexpr int kBytes = kThreadStackBytes - 1024;
  volatile uint8_t bytes[kBytes];
  for (int i = 0; i < kBytes; i += 64) bytes[i] = static_cast<uint8_t>(i);
  uint32_t sum = 0;
  for (int i = 0; i < kBytes; i += 64) sum += bytes[i];
  __atomic_add_fetch(static_cast<uint32_t *>(const_cast<void *>(work)),
                     sum != 0 ? 1 : 0, __ATOMIC_RELAXED);
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  using namespace mace::hexagon;
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    TestThreads(threads);
  }
  TestThreads(2);
  // No more than there can be.
  MACE_EXPECT_EQ(StartWorkers(1000), kMostThreads);
  MACE_EXPECT_EQ(StartWorkers(0), VectorContexts());
  uint32_t used = 0;
  DivideWork(VectorContexts(), 1, UseStack, &used);
  MACE_EXPECT_EQ(used, VectorContexts());
  StopWorkers();
  TestThreads(3);
  StopWorkers();
  MACE_EXPECT_EQ(TakeWorkers(), true);
  MACE_EXPECT_EQ(TakeWorkers(), false);
  ReturnWorkers();
  MACE_EXPECT_EQ(TakeWorkers(), true);
  return Finish();
}
