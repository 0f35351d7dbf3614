// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/crc32.h"

#include <gtest/gtest.h>

#include <string>

namespace mace {
namespace {

// Reference values: the catalogue's check value, and zlib's for the others.
TEST(Crc32Test, EqualsZlib) {
  EXPECT_EQ(Crc32("", 0), 0u);
  EXPECT_EQ(Crc32("123456789", 9), 0xcbf43926u);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 7);
  EXPECT_EQ(Crc32(text.data(), text.size()), 0x114ad5ffu);
  EXPECT_EQ(Crc32(text.data() + 1, 13), 0x8bd057fcu);
}

}  // namespace
}  // namespace mace
