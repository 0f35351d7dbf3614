// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/quantized_product/quantized_product.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/base/data_type.h"
#include "mace/core/base/shape.h"
#include "mace/ops/quantized_product/limits.h"

namespace mace {
namespace {

// Numbers without a pattern, the least and the greatest among them.
int8_t WeightOf(int64_t output, int64_t k) {
  const int64_t mixed = (output * 131 + k * 29 + output * k) * 37 % 256;
  return static_cast<int8_t>(mixed - 128);
}

struct Filter {
  Shape shape;
  ConstantLayout layout = ConstantLayout::kPlain;
  int64_t groups = 1;
  FilterOrder order = FilterOrder::kOutputsFirst;

  int64_t outputs() const {
    return order == FilterOrder::kTapsFirst ? shape[2] : shape[0];
  }
  int64_t depth() const { return shape.Elements() / outputs(); }
};

// The bytes of a filter of WeightOf; what pads blocks is 99, which nobody may
// read.
std::vector<int8_t> BytesOf(const Filter &f) {
  const int64_t columns = f.outputs() / f.groups;
  const int64_t panels = (columns + 15) / 16;
  const bool packed = f.layout != ConstantLayout::kPlain;
  std::vector<int8_t> bytes(
      static_cast<size_t>(packed ? f.groups * panels * 16 * f.depth()
                                 : f.shape.Elements()),
      99);
  for (int64_t o = 0; o < f.outputs(); ++o) {
    for (int64_t k = 0; k < f.depth(); ++k) {
      int64_t at = o * f.depth() + k;
      if (f.order == FilterOrder::kTapsFirst) at = k * f.outputs() + o;
      if (packed) {
        const int64_t n = o % columns;
        const int64_t panel = o / columns * panels + n / 16;
        at = ((panel * f.depth() / 4 + k / 4) * 16 + n % 16) * 4 + k % 4;
      }
      bytes[static_cast<size_t>(at)] = WeightOf(o, k);
    }
  }
  return bytes;
}

Tensor TensorOf(const Filter &f, std::vector<int8_t> *bytes) {
  Tensor tensor;
  tensor.data_type = DataType::kInt8;
  tensor.shape = f.shape;
  tensor.layout = f.layout;
  tensor.groups = f.groups;
  tensor.data = bytes->data();
  return tensor;
}

const Filter kFilters[] = {
    {{1, 1}},
    {{17, 5}},
    {{3, 3, 2, 5}},
    {{3, 5, 7, 1}, ConstantLayout::kPlain, 1, FilterOrder::kTapsFirst},
    {{34, 4}, ConstantLayout::kPackedO16Fours},
    {{51, 2, 1, 8}, ConstantLayout::kPackedO16Fours, 3},
    {{16, 1, 1, 12}, ConstantLayout::kPackedO16Fours, 4},
    {{18, 3, 1, 400}, ConstantLayout::kPackedO16Fours},
};

TEST(ProductFilter, ReadsEachLayout) {
  for (const Filter &f : kFilters) {
    SCOPED_TRACE(f.shape.ToString());
    std::vector<int8_t> bytes = BytesOf(f);
    const ProductFilter filter(TensorOf(f, &bytes), f.order);
    ASSERT_EQ(filter.outputs(), f.outputs());
    ASSERT_EQ(filter.depth(), f.depth());
    for (int64_t o = 0; o < f.outputs(); ++o) {
      for (int64_t k = 0; k < f.depth(); ++k) {
        EXPECT_EQ(filter.At(o, k), WeightOf(o, k));
      }
    }
  }
}

TEST(ProductFilter, SumsWeights) {
  for (const Filter &f : kFilters) {
    SCOPED_TRACE(f.shape.ToString());
    std::vector<int8_t> bytes = BytesOf(f);
    int32_t least = 1;
    const WeightSums sums =
        SumWeights(ProductFilter(TensorOf(f, &bytes), f.order), &least);
    WeightSums expected;
    int32_t expected_least = 0;
    for (int64_t o = 0; o < f.outputs(); ++o) {
      expected.resize(expected.size() + 2);
      for (int64_t k = 0; k < f.depth(); ++k) {
        const int weight = WeightOf(o, k);
        (weight > 0 ? expected[expected.size() - 2] : expected.back()) +=
            weight;
        expected_least = std::min(expected_least, weight);
      }
    }
    EXPECT_EQ(sums, expected);
    EXPECT_EQ(least, expected_least);
  }
}

// Of more fours than sums of 16 bits have room for, whatever pads the block.
TEST(ProductFilter, SumsLargestWeights) {
  constexpr int64_t kFours = 300;
  const Filter f = {{2, 4 * kFours}, ConstantLayout::kPackedO16Fours};
  std::vector<int8_t> bytes(static_cast<size_t>(kFours) * 64, -128);
  for (size_t four = 0; four < bytes.size(); four += 64) {
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(four), 4, int8_t{127});
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(four) + 4, 4,
                int8_t{-127});
  }
  int32_t least = 0;
  const WeightSums sums =
      SumWeights(ProductFilter(TensorOf(f, &bytes), f.order), &least);
  EXPECT_EQ(sums, (WeightSums{127 * 4 * kFours, 0, 0, -127 * 4 * kFours}));
  EXPECT_EQ(least, -127);
}

TEST(ProductFilter, WithoutWeights) {
  std::vector<int8_t> bytes(1);
  for (const Shape &shape : {Shape{}, Shape{0, 3}, Shape{3, 0}}) {
    for (const FilterOrder order :
         {FilterOrder::kOutputsFirst, FilterOrder::kTapsFirst}) {
      const ProductFilter filter(TensorOf({shape}, &bytes), order);
      EXPECT_EQ(filter.outputs(), 0);
      EXPECT_TRUE(SumWeights(filter).empty());
    }
  }
}

TEST(ProblemOfFilter, NamesIt) {
  Quantization q;
  EXPECT_EQ(ProblemOfFilter(DataType::kInt8, nullptr, {}),
            FilterProblem::kNotQuantized);
  EXPECT_EQ(ProblemOfFilter(DataType::kInt8, &q, {}),
            FilterProblem::kNotQuantized);
  q.scales = {0.5f};
  EXPECT_EQ(ProblemOfFilter(DataType::kUint8, &q, {}),
            FilterProblem::kNotQuantized);
  EXPECT_EQ(ProblemOfFilter(DataType::kInt8, &q, {}), FilterProblem::kNone);
  q.zero_points = {0};
  EXPECT_EQ(ProblemOfFilter(DataType::kInt8, &q, {}), FilterProblem::kNone);
  q.zero_points = {3};
  EXPECT_EQ(ProblemOfFilter(DataType::kInt8, &q, {}),
            FilterProblem::kZeroPoints);
  q.zero_points = {0, 0};
  q.scales = {0.5f, 2.0f};
  for (const int64_t axis : {0, 1, 2, 3}) {
    q.axis = axis;
    EXPECT_EQ(ProblemOfFilter(DataType::kInt8, &q, FilterOrder::kOutputsFirst),
              axis == 0 ? FilterProblem::kNone : FilterProblem::kScaleAxis);
    EXPECT_EQ(ProblemOfFilter(DataType::kInt8, &q, FilterOrder::kTapsFirst),
              axis == 2 ? FilterProblem::kNone : FilterProblem::kScaleAxis);
  }
}

TEST(IsDepthwise, OneChannelInEachGroup) {
  EXPECT_TRUE(IsDepthwise({8, 3, 3, 1}, 8));
  EXPECT_TRUE(IsDepthwise({8, 3, 3, 1}, 4));  // two outputs for each channel
  EXPECT_FALSE(IsDepthwise({8, 3, 3, 2}, 4));
  EXPECT_FALSE(IsDepthwise({8, 3, 3, 1}, 1));
  EXPECT_FALSE(IsDepthwise({8, 1}, 8));
}

// Two outputs with a bias: weights {3, -2, 7} and {-128, -128, -128}.
class Numbers : public ::testing::Test {
 protected:
  Numbers() {
    filter_.scales = {0.5f, 0.1f};
    bias_q_.scales = {0.25f * 0.5f, 0.25f * 0.1f};
    bias_.data_type = DataType::kInt32;
    bias_.shape = {2};
    bias_.data = bias_values_;
    bias_.quantization = &bias_q_;
    numbers_.input = {-5, -128, 127};
    numbers_.input_scale = 0.25f;
    numbers_.filter = &filter_;
    numbers_.bias = &bias_;
    numbers_.output_scale = 0.3f;
  }

  const WeightSums weights_ = {10, -2, 0, -384};
  Quantization filter_;
  Quantization bias_q_;
  int32_t bias_values_[2] = {1000, -7};
  Tensor bias_;
  ProductNumbers numbers_;
};

TEST_F(Numbers, StartWithTheBiasAndTheZeroPoint) {
  EXPECT_EQ(StartOf(numbers_, weights_, 0), 1000 + 5 * 8);
  EXPECT_EQ(StartOf(numbers_, weights_, 1), -7 + 5 * -384);
  EXPECT_EQ(Start16Of(numbers_, weights_, 1), -7.0 + 5 * -384);
  numbers_.bias = nullptr;
  EXPECT_EQ(StartOf(numbers_, weights_, 0), 5 * 8);
  EXPECT_EQ(Start16Of(numbers_, weights_, 0), 5.0 * 8);
}

TEST_F(Numbers, StartModulo32Bits) {
  const WeightSums weights = {int64_t{1} << 30, 0, 0, 0};
  bias_values_[0] = INT32_MAX;
  // 2^31 - 1 + 5 * 2^30 is 3 * 2^30 - 1 modulo 2^32, which is -2^30 - 1.
  EXPECT_EQ(StartOf(numbers_, weights, 0), -(1 << 30) - 1);
  EXPECT_EQ(Start16Of(numbers_, weights, 0), 0x1p31 - 1 + 5 * 0x1p30);
}

TEST_F(Numbers, MultiplyByTheScales) {
  EXPECT_EQ(MultiplierOf(numbers_, 1), 0.25f * 0.1f / 0.3f);
  EXPECT_EQ(Multiplier16Of(numbers_, 1),
            0.25 * static_cast<double>(0.1f) / static_cast<double>(0.3f));
  filter_.scales = {0.1f};  // of all outputs
  EXPECT_EQ(MultiplierOf(numbers_, 0), MultiplierOf(numbers_, 1));
  EXPECT_EQ(MultiplierOf(numbers_, 1), 0.25f * 0.1f / 0.3f);
}

TEST_F(Numbers, BoundTheirSums) {
  // Images without their zero point are in [-123, 132].
  const SumRange range = RangeOfSums(numbers_, weights_);
  EXPECT_EQ(range.low, -7 + -384 * 132);
  EXPECT_EQ(range.high, std::max(1000 + 10 * 132 + 2 * 123, -7 + 384 * 123));
  // 0 is among them.
  bias_values_[0] = bias_values_[1] = 1;
  EXPECT_EQ(RangeOfSums(numbers_, {0, 0, 0, 0}).low, 0);
  EXPECT_EQ(RangeOfSums(numbers_, {0, 0, 0, 0}).high, 1);
}

TEST_F(Numbers, CheckTheScalesOfTheBias) {
  EXPECT_EQ(CheckBias(numbers_).code(), MaceStatus::MACE_SUCCESS);
  bias_q_.scales[1] *= 1.000005f;
  EXPECT_EQ(CheckBias(numbers_).code(), MaceStatus::MACE_SUCCESS);
  bias_q_.scales[1] *= 1.0001f;
  const MaceStatus status = CheckBias(numbers_);
  EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_NE(status.information().find("the bias of channel 1 has the scale"),
            std::string::npos);
  numbers_.bias = nullptr;
  EXPECT_EQ(CheckBias(numbers_).code(), MaceStatus::MACE_SUCCESS);
}

TEST(Limits, OfActivations) {
  constexpr IntegerRange kRange = {-10, -128, 127};
  activation::Params params;
  QuantizedLimits limits = LimitsOf(kRange, params, 0.1f);
  EXPECT_EQ(limits.low, -128);
  EXPECT_EQ(limits.high, 127);
  params.kind = activation::Kind::kRelu;
  limits = LimitsOf(kRange, params, 0.1f);
  EXPECT_EQ(limits.low, -10);
  EXPECT_EQ(limits.high, 127);
  params.kind = activation::Kind::kRelux;
  params.limit = 6;
  EXPECT_EQ(LimitsOf(kRange, params, 0.1f).high, 50);
  // Half a step is rounded to even, and limits are integers of the type.
  EXPECT_EQ(LimitsOf(kRange, params, 4.0f).high, -8);
  EXPECT_EQ(LimitsOf(kRange, params, 0.001f).high, 127);
  EXPECT_FALSE(IsLimit(activation::Kind::kSigmoid));
  EXPECT_TRUE(IsLimit(params.kind));
}

}  // namespace
}  // namespace mace
