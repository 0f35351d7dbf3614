// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/band_chains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "mace/ops/cpu_op/row_bands.h"

namespace mace {
namespace {

// Only defines which rows it needs.
class Windows final : public RowBands {
 public:
  Windows(std::mt19937 *engine, int64_t rows) {
    const auto from = [engine](int64_t low, int64_t high) {
      return low + static_cast<int64_t>((*engine)() % (high - low + 1));
    };
    window_.kernel = from(1, 5);
    window_.stride = from(1, 3);
    window_.dilation = from(1, 3);
    window_.pad_before = from(0, 4);
    window_.size = rows;
    const int64_t reach = (window_.kernel - 1) * window_.dilation + 1;
    const int64_t slack = rows + window_.pad_before + from(0, 4) - reach;
    outputs_ = slack < 0 ? 1 : slack / window_.stride + 1;
  }

  int64_t outputs() const { return outputs_; }
  RowRange InputRows(const RowRange &output) const override {
    return RowsUnder(window_, output);
  }
  size_t BandScratchBytes(int64_t) const override { return 0; }
  void RunBand(const RunContext &, const BandRun &) const override {}

 private:
  WindowAxis window_;
  int64_t outputs_ = 0;
};

// Follows a walk like a chain does, and records which rows each link holds.
class Follower {
 public:
  explicit Follower(size_t count) : held_(count), made_(count) {}

  void Step(const RowBands *const *ops, const BandWalk &walk) {
    for (size_t i = 0; i < held_.size(); ++i) {
      const BandWalk::Step &step = walk.step(i);
      EXPECT_EQ(step.kept.end, step.made.begin);
      for (int64_t row = step.kept.begin; row < step.kept.end; ++row) {
        EXPECT_TRUE(Holds(i, row)) << "row " << row << " of link " << i;
      }
      if (step.made.empty() && step.kept.empty()) continue;
      held_[i] = {step.kept.begin, step.made.end};
      if (step.made.empty()) continue;
      // No row of a task is computed twice.
      if (!made_[i].empty()) {
        EXPECT_GE(step.made.begin, made_[i].end);
      }
      made_[i] = step.made;
      if (i == 0) continue;
      // A link begins with the first row that is read.
      const RowRange needed = ops[i]->InputRows(step.made);
      EXPECT_EQ(needed.begin, held_[i - 1].begin);
      EXPECT_LE(needed.end, held_[i - 1].end);
    }
  }

 private:
  bool Holds(size_t link, int64_t row) const {
    return row >= held_[link].begin && row < held_[link].end;
  }

  std::vector<RowRange> held_;
  std::vector<RowRange> made_;
};

TEST(BandWalkTest, EveryRowThatIsNeededIsMadeOnceAndStillThere) {
  std::mt19937 engine(41);
  for (int round = 0; round < 500; ++round) {
    std::vector<Windows> windows;
    const size_t count = 2 + engine() % (BandChain::kMaxNodes - 1);
    int64_t rows = 20 + static_cast<int64_t>(engine() % 60);
    for (size_t i = 0; i < count; ++i) {
      windows.emplace_back(&engine, rows);
      rows = windows.back().outputs();
    }
    std::vector<const RowBands *> ops;
    for (const Windows &window : windows) ops.push_back(&window);
    const auto task = 1 + static_cast<int64_t>(engine() % rows);
    const auto band = 1 + static_cast<int64_t>(engine() % task);
    BandWalk walk(ops.data(), count);
    int64_t last = 0;
    for (int64_t begin = 0; begin < rows; begin += task) {
      const int64_t end = std::min(begin + task, rows);
      walk.Start();
      Follower follower(count);
      for (int64_t row = begin; row < end; row += band) {
        const RowRange wanted = {row, std::min(row + band, end)};
        walk.Next(wanted);
        follower.Step(ops.data(), walk);
        EXPECT_EQ(walk.step(count - 1).made.begin, wanted.begin);
        EXPECT_EQ(walk.step(count - 1).made.end, wanted.end);
        last = wanted.end;
      }
    }
    EXPECT_EQ(last, rows);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST(RowsUnderTest, RowsAreInsideTheImage) {
  // Rows 0 and 3 read only padding.
  const WindowAxis window = {3, 1, 2, 1, 2, 0, 0};
  EXPECT_EQ(RowsUnder(window, {0, 1}).begin, 0);
  EXPECT_EQ(RowsUnder(window, {0, 1}).end, 1);
  EXPECT_EQ(RowsUnder(window, {1, 3}).begin, 0);
  EXPECT_EQ(RowsUnder(window, {1, 3}).end, 3);
  EXPECT_EQ(RowsUnder(window, {3, 4}).begin, 2);
  EXPECT_EQ(RowsUnder(window, {3, 4}).end, 3);
}

}  // namespace
}  // namespace mace
