// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/status.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>

namespace mace {
namespace {

enum Colour { kRed = 3 };

template <typename... Args>
std::string Streamed(const Args &...args) {
  std::ostringstream stream;
  (stream << ... << args);
  return stream.str();
}

#define EXPECT_AS_STREAMED(...) \
  EXPECT_EQ(MakeString(__VA_ARGS__), Streamed(__VA_ARGS__))

TEST(MakeStringTest, PrintsLikeAStream) {
  const std::string text("a\0b", 3);
  const char *pointer = "pointer";
  EXPECT_AS_STREAMED(text, pointer, "literal", 'c', kRed, true, false);
  EXPECT_AS_STREAMED(INT64_MIN, ' ', INT64_MAX, ' ', UINT64_MAX, ' ', -1, ' ',
                     int16_t{-7}, ' ', uint16_t{65535}, ' ', size_t{5});
  for (const double value : {0.0, -0.0, 1.0, 0.1, -1.5e-7, 123456.0, 1234567.0,
                             1e21, 1e-308, std::numeric_limits<double>::max(),
                             -std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::infinity()}) {
    EXPECT_AS_STREAMED(value, ' ', static_cast<float>(value));
  }
  EXPECT_EQ(MakeString(), "");
}

TEST(StatusTest, CarriesItsMessage) {
  const MaceStatus status = InvalidArgs("x is ", 3, ", not ", 4.5f);
  EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_EQ(StatusMessage(status), "x is 3, not 4.5");
  EXPECT_EQ(Unsupported("a").code(), MaceStatus::MACE_UNSUPPORTED);
  EXPECT_EQ(OutOfResources("a").code(), MaceStatus::MACE_OUT_OF_RESOURCES);
  EXPECT_EQ(RuntimeError("a").code(), MaceStatus::MACE_RUNTIME_ERROR);
}

}  // namespace
}  // namespace mace
