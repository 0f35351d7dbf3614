// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace mace {
namespace {

// The value of a binary16 number by the definition.
double HalfValue(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(HalfTest, WidensEveryFiniteValueExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (((half >> 10) & 31) == 31) continue;
    ASSERT_EQ(HalfToFloat(half), HalfValue(half)) << bits;
    ASSERT_EQ(FloatToHalf(HalfToFloat(half)), half) << bits;
  }
  EXPECT_TRUE(std::signbit(HalfToFloat(0x8000)));
}

TEST(HalfTest, KeepsInfinityAndNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(HalfToFloat(0x7c00), infinity);
  EXPECT_EQ(HalfToFloat(0xfc00), -infinity);
  EXPECT_TRUE(std::isnan(HalfToFloat(0x7c01)));
  EXPECT_EQ(FloatToHalf(infinity), 0x7c00);
  EXPECT_EQ(FloatToHalf(-infinity), 0xfc00);
  const uint16_t nan = FloatToHalf(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(std::isnan(HalfToFloat(nan)));
}

// Between adjacent numbers: just below, at, and just above the middle.
TEST(HalfTest, RoundsToNearestTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<uint16_t>(bits);
    const auto high = static_cast<uint16_t>(bits + 1);
    const auto middle =
        static_cast<float>((HalfValue(low) + HalfValue(high)) / 2);
    const uint16_t even = (low & 1) == 0 ? low : high;
    ASSERT_EQ(FloatToHalf(middle), even) << bits;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 0.0f)), low) << bits;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 1e9f)), high) << bits;
    ASSERT_EQ(FloatToHalf(-middle), even | 0x8000) << bits;
  }
  EXPECT_EQ(FloatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalf(1e30f), 0x7c00);
}

TEST(Bfloat16Test, RoundsToNearestTiesToEven) {
  EXPECT_EQ(FloatToBfloat16(1.0f), 0x3f80);
  EXPECT_EQ(FloatToBfloat16(FloatFromBits(0x3f808000)), 0x3f80);
  EXPECT_EQ(FloatToBfloat16(FloatFromBits(0x3f818000)), 0x3f82);
  EXPECT_EQ(FloatToBfloat16(FloatFromBits(0x3f808001)), 0x3f81);
  EXPECT_EQ(FloatToBfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(Bfloat16ToFloat(FloatToBfloat16(NAN))));
  // A NaN whose upper mantissa bits are zero must not become infinity.
  EXPECT_TRUE(
      std::isnan(Bfloat16ToFloat(FloatToBfloat16(FloatFromBits(0x7f800001)))));
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const auto value = static_cast<uint16_t>(bits);
    ASSERT_EQ(FloatToBfloat16(Bfloat16ToFloat(value)), value);
  }
}

}  // namespace
}  // namespace mace
