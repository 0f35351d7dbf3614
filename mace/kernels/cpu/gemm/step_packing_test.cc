// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Reads steps back as their description says, whatever instruction set this
// machine has: no sum of 16 bits may leave them, and totals are exact.

#include "mace/kernels/cpu/gemm/step_packing.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace mace::gemm {
namespace {

constexpr size_t kColumns = 16;

struct Weights {
  size_t panels;
  size_t taps;
  size_t depth;
  std::vector<int8_t> values;  // [panels][taps][fours][16][4]

  size_t fours() const { return (depth + 3) / 4; }
  size_t panel_bytes() const { return taps * fours() * kStepBytes; }
  const int8_t *panel(size_t i) const {
    return values.data() + i * panel_bytes();
  }
  // The element of K that a place of a four stands for; the last four ends
  // with the depth.
  size_t ElementOf(size_t four, size_t i) const {
    return std::min(4 * four, depth - 4) + i;
  }
};

using Draw = std::function<int(size_t k)>;

Weights Make(size_t panels, size_t taps, size_t depth, const Draw &draw) {
  Weights w = {panels, taps, depth, {}};
  w.values.resize(panels * w.panel_bytes());
  for (size_t i = 0; i < panels * taps; ++i) {
    for (size_t k = 0; k < depth; ++k) {
      // PlaceInFours.
      const size_t at = k < depth / 4 * 4 ? k : depth / 4 * 4 + k + 4 - depth;
      for (size_t n = 0; n < kColumns; ++n) {
        w.values[(i * w.fours() + at / 4) * kStepBytes + n * 4 + at % 4] =
            static_cast<int8_t>(draw(k));
      }
    }
  }
  return w;
}

std::vector<int8_t> Pack(const Weights &w, StepShares *shares) {
  StepPacking packing(w.panels, w.taps, w.depth);
  for (size_t i = 0; i < w.panels; ++i) packing.Plan(w.panel(i));
  *shares = packing.shares();
  std::vector<int8_t> to(packing.Bytes());
  for (size_t i = 0; i < w.panels; ++i) packing.Write(w.panel(i), to.data());
  return to;
}

// Whether sums of `count` fours, one after the other, fit 16 bits for every x.
void ExpectFits(const int8_t *weights, size_t count, size_t column) {
  for (size_t pair = 0; pair < 4; pair += 2) {
    int above = 0;
    int below = 0;
    for (size_t four = 0; four < count; ++four) {
      for (size_t i = pair; i < pair + 2; ++i) {
        const int w = weights[four * kStepBytes + column * 4 + i];
        (w > 0 ? above : below) += 255 * w;
      }
    }
    ASSERT_LE(above, INT16_MAX);
    ASSERT_GE(below, INT16_MIN);
  }
}

using Rows = std::vector<std::vector<uint8_t>>;  // [taps][depth]

// Of one column of a panel, as a kernel computes it.
int32_t SumOf(const Weights &w,
              const int8_t *packed,
              size_t index,
              size_t column,
              const Rows &x) {
  int64_t distance;
  std::memcpy(&distance, packed + index * sizeof(distance), sizeof(distance));
  const int8_t *panel = packed + index * sizeof(distance) + distance;
  StepPanel head;
  std::memcpy(&head, panel, sizeof(head));
  const int8_t *counts = panel + sizeof(head);
  const int8_t *offsets = counts + w.taps * sizeof(StepCounts);
  const int8_t *weights = panel + head.weights;
  EXPECT_EQ((weights - packed) % 64, 0);
  int64_t sum = head.correction[column];
  for (size_t tap = 0; tap < w.taps; ++tap) {
    StepCounts count;
    std::memcpy(&count, counts + tap * sizeof(count), sizeof(count));
    const auto add = [&](const int8_t *mask) {
      uint32_t offset;
      std::memcpy(&offset, offsets, sizeof(offset));
      offsets += sizeof(offset);
      for (size_t i = 0; i < 4; ++i) {
        uint8_t element = x[tap].at(offset + i);
        if (mask != nullptr) {
          element ^= static_cast<uint8_t>(mask[column * 4 + i]);
        }
        sum += int32_t{element} * weights[column * 4 + i];
      }
      weights += kStepBytes;
    };
    // Steps of `fours` each, the last of which has a mask.
    const auto add_masked = [&](const MaskedSteps &steps, size_t fours) {
      for (uint32_t i = 0; i < steps.All(); ++i) {
        ExpectFits(weights, fours, column);
        const int8_t *mask = weights + fours * kStepBytes;
        const bool first_only = i < steps.first;
        const bool last_only = !first_only && i < steps.first + steps.last;
        if (column < 8 ? last_only : first_only) {
          EXPECT_TRUE(std::all_of(mask + column * 4, mask + column * 4 + 4,
                                  [](int of) { return of == 0; }));
        }
        for (size_t four = 1; four < fours; ++four) add(nullptr);
        add(mask);
        weights += kStepBytes;
      }
    };
    for (uint32_t i = 0; i < count.deep; ++i) {
      ExpectFits(weights, 2, column);
      add(nullptr);
      add(nullptr);
    }
    add_masked(count.masked, 2);
    for (uint32_t i = 0; i < count.plain; ++i) {
      ExpectFits(weights, 1, column);
      add(nullptr);
    }
    add_masked(count.flipped, 1);
  }
  return static_cast<int32_t>(sum);
}

int32_t Wanted(const Weights &w, size_t index, size_t column, const Rows &x) {
  int32_t sum = 0;
  for (size_t tap = 0; tap < w.taps; ++tap) {
    for (size_t four = 0; four < w.fours(); ++four) {
      for (size_t i = 0; i < 4; ++i) {
        sum +=
            int32_t{x[tap][w.ElementOf(four, i)]} *
            w.panel(
                index)[(tap * w.fours() + four) * kStepBytes + column * 4 + i];
      }
    }
  }
  return sum;
}

StepShares Check(const Weights &w) {
  StepShares shares;
  const std::vector<int8_t> packed = Pack(w, &shares);
  std::mt19937 random(5);
  for (int pattern = 0; pattern < 4; ++pattern) {
    Rows x(w.taps, std::vector<uint8_t>(w.depth));
    for (auto &row : x) {
      for (uint8_t &element : row) {
        element = pattern == 0   ? 255
                  : pattern == 1 ? 0
                  : pattern == 2 ? static_cast<uint8_t>(random() % 2 * 255)
                                 : static_cast<uint8_t>(random());
      }
    }
    for (size_t i = 0; i < w.panels; ++i) {
      for (size_t n = 0; n < kColumns; ++n) {
        EXPECT_EQ(SumOf(w, packed.data(), i, n, x), Wanted(w, i, n, x));
      }
    }
  }
  return shares;
}

TEST(StepPacking, RandomWeights) {
  for (const int most : {20, 60, 127}) {
    for (const size_t depth : {4, 5, 7, 12, 33, 64}) {
      std::mt19937 random(3);
      Check(Make(3, 2, depth, [&](size_t) {
        return static_cast<int>(random() % (2 * most + 1)) - most;
      }));
    }
  }
}

TEST(StepPacking, LargestWeights) {
  for (const size_t taps : {1, 9}) {
    Check(Make(1, taps, 16, [](size_t) { return 127; }));
    Check(Make(1, taps, 16, [](size_t) { return -127; }));
    Check(Make(1, taps, 16, [](size_t k) { return k % 2 == 0 ? 127 : -128; }));
    Check(Make(1, taps, 16, [](size_t k) { return k % 2 == 0 ? -128 : -1; }));
    Check(Make(1, taps, 16, [](size_t k) { return k % 2 == 0 ? -1 : -128; }));
    Check(Make(1, taps, 16, [](size_t k) { return k % 2 == 0 ? 1 : 127; }));
    Check(Make(1, taps, 16, [](size_t k) { return k % 2 == 0 ? 2 : 127; }));
  }
}

TEST(StepPacking, KindsOfSteps) {
  // Four weights of 32 fill a sum of 16 bits.
  StepShares shares = Check(Make(2, 1, 16, [](size_t) { return 32; }));
  EXPECT_EQ(shares.deep, 2 * 4u);
  EXPECT_EQ(shares.plain + shares.flipped, 0u);
  shares = Check(Make(2, 1, 16, [](size_t) { return -33; }));
  EXPECT_EQ(shares.plain, 2 * 4u);
  EXPECT_EQ(shares.deep + shares.flipped, 0u);
  shares = Check(Make(2, 1, 16, [](size_t) { return 65; }));
  EXPECT_EQ(shares.flipped, 2 * 4u);
  EXPECT_EQ(shares.deep + shares.plain, 0u);
  // Weights of different signs fit, whatever they are.
  shares = Check(Make(1, 1, 16, [](size_t k) { return k % 2 ? 127 : -128; }));
  EXPECT_EQ(shares.flipped, 0u);
  // -128 has no opposite.
  shares = Check(Make(1, 1, 8, [](size_t) { return -128; }));
  EXPECT_EQ(shares.flipped, 2u);
  EXPECT_EQ(shares.rests, 2u);
  EXPECT_EQ(shares.plain, 2u);
}

// The steps of the only tap of the first panel, and the offsets of their fours.
struct Steps {
  StepCounts counts;
  std::vector<uint32_t> offsets;
};

Steps StepsOf(const Weights &w) {
  StepShares shares;
  const std::vector<int8_t> packed = Pack(w, &shares);
  int64_t distance;
  std::memcpy(&distance, packed.data(), sizeof(distance));
  const int8_t *from = packed.data() + distance + sizeof(StepPanel);
  Steps steps;
  std::memcpy(&steps.counts, from, sizeof(StepCounts));
  steps.offsets.resize(steps.counts.Fours());
  std::memcpy(steps.offsets.data(), from + sizeof(StepCounts),
              steps.offsets.size() * sizeof(uint32_t));
  return steps;
}

// A half of columns that fits has no mask of its own.
TEST(StepPacking, HalvesThatExceed) {
  Weights w = Make(1, 1, 12, [](size_t) { return 40; });
  const auto exceed = [&](size_t four, size_t column) {
    int8_t *at = w.values.data() + four * kStepBytes + column * 4;
    at[0] = at[1] = 100;
  };
  exceed(0, 15);
  exceed(1, 0);
  exceed(1, 8);
  exceed(2, 7);
  EXPECT_EQ(Check(w).flipped, 3u);
  const StepCounts counts = StepsOf(w).counts;
  EXPECT_EQ(counts.flipped.first, 1u);
  EXPECT_EQ(counts.flipped.last, 1u);
  EXPECT_EQ(counts.flipped.both, 1u);
}

// A four that fits and one that does not share a step with a mask, in either
// order, if the sums can be kept within 16 bits by it.
TEST(StepPacking, JoinsByMasks) {
  for (const size_t large : {0, 1}) {
    const auto draw = [large](int of_large, int of_other) {
      return [=](size_t k) { return k / 4 == large ? of_large : of_other; };
    };
    StepShares shares = Check(Make(2, 3, 8, draw(100, 14)));
    EXPECT_EQ(shares.deep, 2 * 3 * 2u);
    EXPECT_EQ(shares.masked, 2 * 3 * 2u);
    EXPECT_EQ(shares.plain + shares.flipped, 0u);
    shares = Check(Make(1, 1, 8, draw(-100, 14)));
    EXPECT_EQ(shares.masked, 2u);
    // 2 * 15 + 100 is too much, and -128 has no opposite.
    shares = Check(Make(1, 1, 8, draw(100, 15)));
    EXPECT_EQ(shares.deep, 0u);
    EXPECT_EQ(shares.flipped, 1u);
    shares = Check(Make(1, 1, 8, draw(-128, 0)));
    EXPECT_EQ(shares.deep, 0u);
    EXPECT_EQ(shares.flipped, 1u);
  }
}

// Where one half of the columns fits without it, the mask is of the other.
TEST(StepPacking, HalvesOfJoins) {
  for (const bool last : {false, true}) {
    Weights w = Make(1, 1, 8, [](size_t) { return 20; });
    for (size_t n = 0; n < kColumns; ++n) {
      if ((n >= 8) != last) continue;
      int8_t *at = w.values.data() + kStepBytes + n * 4;
      std::fill(at, at + 4, static_cast<int8_t>(70));
    }
    EXPECT_EQ(Check(w).masked, 2u);
    const StepCounts counts = StepsOf(w).counts;
    EXPECT_EQ(counts.masked.first, last ? 0u : 1u);
    EXPECT_EQ(counts.masked.last, last ? 1u : 0u);
    EXPECT_EQ(counts.masked.both, 0u);
  }
}

// A four of small weights is joined with another one, even if they are not
// neighbours.
TEST(StepPacking, JoinsAcrossLargerFours) {
  const StepShares shares =
      Check(Make(1, 1, 12, [](size_t k) { return k / 4 == 1 ? 100 : 10; }));
  EXPECT_EQ(shares.deep, 2u);
  EXPECT_EQ(shares.flipped, 1u);
}

// Of several fours that one may be joined with, the last one without a mask is
// taken, else the first one that a mask lets join.
TEST(StepPacking, ChoosesAmongFours) {
  const auto offsets = [](const std::vector<int> &of_fours) {
    return StepsOf(Make(1, 1, 4 * of_fours.size(),
                        [&](size_t k) { return of_fours[k / 4]; }))
        .offsets;
  };
  EXPECT_EQ(offsets({10, 90, 20, 30, 100}),
            (std::vector<uint32_t>{0, 12, 8, 4, 16}));
  EXPECT_EQ(offsets({10, 90, 127, 100}), (std::vector<uint32_t>{0, 4, 8, 12}));
}

// 16 that follow are looked at.
TEST(StepPacking, LooksAtSoManyFours) {
  for (const size_t others : {15, 16}) {
    const StepShares shares =
        Check(Make(1, 1, 4 * (others + 2), [others](size_t k) {
          return k / 4 == 0 || k / 4 > others ? 10 : 127;
        }));
    EXPECT_EQ(shares.deep, others == 15 ? 2u : 0u);
  }
}

}  // namespace
}  // namespace mace::gemm
