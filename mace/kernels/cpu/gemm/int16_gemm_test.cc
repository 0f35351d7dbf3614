// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/int16_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::gemm {
namespace {

constexpr int16_t kGuard = 0x5a5a;

struct Product {
  size_t rows;
  size_t taps;
  size_t depth;
  size_t columns;
  // All elements and weights are the least ones of their types.
  bool extreme = false;
};

class Operands {
 public:
  explicit Operands(const Product &p) : p_(p), random_(7) {
    // Each row by itself, exactly as large as it is, for the sanitizer.
    for (size_t i = 0; i < p.taps * p.rows; ++i) {
      rows_.emplace_back(p.depth);
      for (int16_t &x : rows_.back()) {
        x = static_cast<int16_t>(p.extreme ? INT16_MIN : Below(65536) - 32768);
      }
      pointers_.push_back(rows_.back().data());
    }
    const size_t padded = p.taps * DepthInFours(p.depth);
    const size_t panels = PanelCount(p.columns);
    panels_.resize(panels * PanelBytes(WeightType::kI8Fours, padded));
    weights_.resize(p.columns * p.taps * p.depth);
    for (size_t n = 0; n < p.columns; ++n) {
      for (size_t t = 0; t < p.taps; ++t) {
        for (size_t k = 0; k < p.depth; ++k) {
          const auto w =
              static_cast<int8_t>(p.extreme ? INT8_MIN : Below(256) - 128);
          weights_[(n * p.taps + t) * p.depth + k] = w;
          const size_t at =
              t * DepthInFours(p.depth) + PlaceInFours(k, p.depth);
          panels_[n / kPanelColumns * kPanelColumns * padded +
                  at / 4 * 4 * kPanelColumns + n % kPanelColumns * 4 + at % 4] =
              w;
        }
      }
    }
    const auto products = static_cast<double>(p.taps * p.depth);
    const double spread =
        p.extreme ? 200.0 * products : 100.0 * std::sqrt(products);
    for (size_t n = 0; n < panels * kPanelColumns; ++n) {
      bias_.push_back(Below(2000000) - 1000000);
      scale_.push_back((Below(1000) + 100) / 1000.0 / spread);
    }
    requantization_ = {bias_.data(), scale_.data(), -3, -32000, 32700};
  }

  std::vector<int16_t> Run(CpuIsa isa, size_t stretch, size_t gap) const {
    const Arithmetic &arithmetic = *ArithmeticFor(ArithmeticKind::kInt16, isa);
    const size_t stride = p_.columns + gap;
    std::vector<int16_t> c(p_.rows * stride, kGuard);
    Block block;
    block.a = pointers_.data();
    block.rows = p_.rows;
    block.taps = p_.taps;
    block.depth = p_.depth;
    block.w = panels_.data();
    block.w_type = WeightType::kI8Fours;
    block.columns = p_.columns;
    block.c = c.data();
    block.c_type = Element::kI16;
    block.c_stride = stride;
    block.epilogue.requantization16 = &requantization_;
    const size_t panels = PanelCount(p_.columns);
    for (size_t begin = 0; begin < panels; begin += stretch) {
      block.panel_begin = begin;
      block.panel_end = std::min(panels, begin + stretch);
      arithmetic.run(block);
    }
    return c;
  }

  int16_t Wanted(size_t m, size_t n) const {
    auto sum = static_cast<int64_t>(bias_[n]);
    for (size_t t = 0; t < p_.taps; ++t) {
      for (size_t k = 0; k < p_.depth; ++k) {
        sum += int64_t{rows_[t * p_.rows + m][k]} *
               weights_[(n * p_.taps + t) * p_.depth + k];
      }
    }
    const double steps = static_cast<double>(sum) * scale_[n];
    return static_cast<int16_t>(
        std::clamp<int64_t>(std::llrint(steps) + requantization_.zero,
                            requantization_.low, requantization_.high));
  }

 private:
  int Below(int limit) {
    return static_cast<int>(random_() % static_cast<unsigned>(limit));
  }

  const Product p_;
  std::mt19937 random_;
  std::vector<std::vector<int16_t>> rows_;
  std::vector<const void *> pointers_;
  std::vector<int8_t> weights_;
  std::vector<int8_t> panels_;
  std::vector<double> bias_;
  std::vector<double> scale_;
  Requantization16 requantization_;
};

void Check(const Product &p) {
  const Operands operands(p);
  for (CpuIsa isa : RunnableIsasAndExtensions()) {
    for (size_t stretch : {size_t{1}, size_t{3}, size_t{100}}) {
      const size_t gap = stretch == 3 ? 5 : 0;
      const std::vector<int16_t> found = operands.Run(isa, stretch, gap);
      for (size_t m = 0; m < p.rows; ++m) {
        for (size_t n = 0; n < p.columns + gap; ++n) {
          const int16_t wanted = n < p.columns ? operands.Wanted(m, n) : kGuard;
          ASSERT_EQ(found[m * (p.columns + gap) + n], wanted)
              << CpuIsaName(isa) << " row " << m << " column " << n;
        }
      }
    }
  }
}

TEST(Int16Gemm, RowsAndColumns) {
  for (const size_t rows : {1, 2, 3, 5, 12, 25}) {
    for (const size_t columns : {1, 16, 31, 48, 130}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      Check({rows, 1, 24, columns});
    }
  }
}

TEST(Int16Gemm, TapsAndDepths) {
  for (const size_t taps : {1, 3, 9}) {
    for (const size_t depth : {1, 2, 3, 4, 7, 33, 256}) {
      SCOPED_TRACE(testing::Message() << taps << " of " << depth);
      Check({7, taps, depth, 40});
    }
  }
}

// More products than fit a sum of 32 bits.
TEST(Int16Gemm, LargeSums) {
  for (const size_t depth : {508, 511, 512, 1023, 2050}) {
    for (const size_t taps : {1, 3}) {
      SCOPED_TRACE(testing::Message() << taps << " of " << depth);
      Check({3, taps, depth, 20, /*extreme=*/true});
      Check({3, taps, depth, 20});
    }
  }
}

}  // namespace
}  // namespace mace::gemm
