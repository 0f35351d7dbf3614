// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/quantized_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/gemm/step_packing.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::gemm {
namespace {

constexpr uint8_t kGuard = 0x5a;

struct Product {
  size_t rows;
  size_t taps;
  size_t depth;
  size_t columns;
  int32_t low;
  int32_t high;
};

struct Kind {
  int least_weight;
  bool bounded;
  // Most weights are far from the limits, as in networks: the sums of several
  // fit 16 bits.
  bool bell_shaped;
};

class Operands {
 public:
  Operands(const Product &p, const Kind &kind) : p_(p), random_(7) {
    // Each row by itself, exactly as large as it is, for the sanitizer.
    for (size_t i = 0; i < p.taps * p.rows; ++i) {
      rows_.emplace_back(p.depth);
      for (uint8_t &x : rows_.back()) x = static_cast<uint8_t>(Below(256));
      pointers_.push_back(rows_.back().data());
    }
    const size_t padded = p.taps * DepthInFours(p.depth);
    const size_t panels = PanelCount(p.columns);
    panels_.resize(panels * PanelBytes(WeightType::kI8Fours, padded));
    weights_.resize(p.columns * p.taps * p.depth);
    for (size_t n = 0; n < p.columns; ++n) {
      for (size_t t = 0; t < p.taps; ++t) {
        for (size_t k = 0; k < p.depth; ++k) {
          const int drawn = kind.bell_shaped
                                ? Below(86) + Below(86) + Below(85) - 127
                                : Below(256) - 128;
          const auto w =
              static_cast<int8_t>(std::max(drawn, kind.least_weight));
          weights_[(n * p.taps + t) * p.depth + k] = w;
          const size_t at =
              t * DepthInFours(p.depth) + PlaceInFours(k, p.depth);
          panels_[n / kPanelColumns * kPanelColumns * padded +
                  at / 4 * 4 * kPanelColumns + n % kPanelColumns * 4 + at % 4] =
              w;
        }
      }
    }
    const float spread =
        10000.0f * std::sqrt(static_cast<float>(p.taps * p.depth));
    for (size_t n = 0; n < panels * kPanelColumns; ++n) {
      bias_.push_back(Below(20000) - 10000);
      scale_.push_back(static_cast<float>(Below(1000) + 100) / 10.0f / spread);
      if (!kind.bounded && n % 3 == 0) scale_.back() *= 1e9f;
    }
    requantization_ = {bias_.data(), scale_.data(), kUnsignedBytes ? 131 : -3,
                       p.low,        p.high,        kind.least_weight,
                       kind.bounded};
  }

  // Whether the kernels of `isa` read the weights in steps.
  bool InSteps(CpuIsa isa) const {
    return p_.depth >= 4 &&
           ArithmeticFor(ArithmeticKind::kQuantized, isa)->reads_steps;
  }

  std::vector<uint8_t> Run(CpuIsa isa, size_t stretch, size_t gap) const {
    const Arithmetic &arithmetic =
        *ArithmeticFor(ArithmeticKind::kQuantized, isa);
    std::vector<int8_t> steps;
    StepShares shares;
    if (InSteps(isa)) steps = Steps(&shares);
    const size_t stride = p_.columns + gap;
    std::vector<uint8_t> c(p_.rows * stride, kGuard);
    Block block;
    block.a = pointers_.data();
    block.rows = p_.rows;
    block.taps = p_.taps;
    block.depth = p_.depth;
    block.w = steps.empty() ? panels_.data() : steps.data();
    block.w_type = steps.empty() ? WeightType::kI8Fours : WeightType::kI8Steps;
    block.columns = p_.columns;
    block.c = c.data();
    block.c_type = Element::kI8;
    block.c_stride = stride;
    block.epilogue.requantization = &requantization_;
    const size_t panels = PanelCount(p_.columns);
    for (size_t begin = 0; begin < panels; begin += stretch) {
      block.panel_begin = begin;
      block.panel_end = std::min(panels, begin + stretch);
      arithmetic.run(block);
    }
    return c;
  }

  std::vector<int8_t> Steps(StepShares *shares) const {
    const size_t count = PanelCount(p_.columns);
    const size_t bytes = panels_.size() / count;
    StepPacking packing(count, p_.taps, p_.depth);
    for (size_t i = 0; i < count; ++i) {
      packing.Plan(panels_.data() + i * bytes);
    }
    *shares = packing.shares();
    std::vector<int8_t> steps(packing.Bytes());
    for (size_t i = 0; i < count; ++i) {
      packing.Write(panels_.data() + i * bytes, steps.data());
    }
    return steps;
  }

  uint8_t Wanted(size_t m, size_t n) const {
    int64_t sum = bias_[n];
    for (size_t t = 0; t < p_.taps; ++t) {
      for (size_t k = 0; k < p_.depth; ++k) {
        const uint8_t x = rows_[t * p_.rows + m][k];
        sum += (kUnsignedBytes ? int64_t{x} : static_cast<int8_t>(x)) *
               weights_[(n * p_.taps + t) * p_.depth + k];
      }
    }
    const float steps =
        static_cast<float>(static_cast<int32_t>(sum)) * scale_[n];
    const int64_t q = std::llrint(steps) + requantization_.zero;
    return static_cast<uint8_t>(
        std::clamp<int64_t>(q, requantization_.low, requantization_.high));
  }

 private:
  int Below(int limit) {
    return static_cast<int>(random_() % static_cast<unsigned>(limit));
  }

  const Product p_;
  std::mt19937 random_;
  std::vector<std::vector<uint8_t>> rows_;
  std::vector<const void *> pointers_;
  std::vector<int8_t> weights_;
  std::vector<int8_t> panels_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
  Requantization requantization_;
};

void CheckWith(const Product &p, const Kind &kind) {
  const Operands operands(p, kind);
  for (CpuIsa isa : RunnableIsasAndExtensions()) {
    for (size_t stretch : {size_t{1}, size_t{3}, size_t{100}}) {
      const size_t gap = stretch == 3 ? 5 : 0;
      const std::vector<uint8_t> found = operands.Run(isa, stretch, gap);
      for (size_t m = 0; m < p.rows; ++m) {
        for (size_t n = 0; n < p.columns + gap; ++n) {
          const uint8_t wanted = n < p.columns ? operands.Wanted(m, n) : kGuard;
          ASSERT_EQ(found[m * (p.columns + gap) + n], wanted)
              << CpuIsaName(isa) << " row " << m << " column " << n;
        }
      }
    }
  }
}

// What most networks allow kernels to do, and what all do.
void Check(const Product &p) {
  CheckWith(p, {-127, /*bounded=*/true, /*bell_shaped=*/false});
  CheckWith(p, {-127, /*bounded=*/true, /*bell_shaped=*/true});
  CheckWith(p, {INT8_MIN, /*bounded=*/false, /*bell_shaped=*/false});
  CheckWith(p, {INT8_MIN, /*bounded=*/false, /*bell_shaped=*/true});
}

constexpr int32_t kLow = kUnsignedBytes ? 0 : -128;
constexpr int32_t kHigh = kUnsignedBytes ? 255 : 127;

TEST(QuantizedGemm, RowsAndColumns) {
  for (const size_t rows : {1, 2, 5, 6, 7, 12, 25}) {
    for (const size_t columns : {1, 16, 31, 48, 64, 130}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      Check({rows, 1, 24, columns, kLow, kHigh});
    }
  }
}

TEST(QuantizedGemm, TapsAndDepths) {
  for (const size_t taps : {1, 3, 9}) {
    for (const size_t depth : {1, 2, 3, 4, 5, 7, 9, 16, 33, 47, 63, 256}) {
      SCOPED_TRACE(testing::Message() << taps << " of " << depth);
      Check({7, taps, depth, 40, kLow, kHigh});
    }
  }
}

TEST(QuantizedGemm, Bounds) {
  Check({9, 1, 64, 33, kLow + 131, kHigh});
  Check({9, 1, 64, 33, kLow + 100, kHigh - 90});
}

// The weights of these tests become steps of all kinds.
TEST(QuantizedGemm, KindsOfSteps) {
  const Operands operands({1, 9, 256, 40, kLow, kHigh}, {-127, true, true});
  StepShares shares;
  operands.Steps(&shares);
  EXPECT_GT(shares.masked, 0u);
  EXPECT_GT(shares.deep, shares.masked);
  EXPECT_GT(shares.plain, 0u);
  EXPECT_GT(shares.flipped, 0u);
}

}  // namespace
}  // namespace mace::gemm
