// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/mapped_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace mace {
namespace {

TEST(MappedMemoryTest, IsZeroAndMoves) {
  constexpr size_t kBytes = 100003;
  MappedMemory memory;
  ASSERT_TRUE(memory.Allocate(kBytes));
  auto *data = static_cast<unsigned char *>(memory.data());
  EXPECT_TRUE(std::all_of(data, data + kBytes, [](int v) { return v == 0; }));
  data[kBytes - 1] = 5;
  MappedMemory other(std::move(memory));
  EXPECT_EQ(memory.data(), nullptr);  // NOLINT: what is left of it
  EXPECT_EQ(other.data(), data);
  EXPECT_EQ(other.bytes(), kBytes);
  memory = std::move(other);
  EXPECT_EQ(static_cast<unsigned char *>(memory.data())[kBytes - 1], 5);
  ASSERT_TRUE(memory.Allocate(1));
  EXPECT_EQ(*static_cast<unsigned char *>(memory.data()), 0);
  memory.Release();
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(MappedMemoryTest, TellsThatThereIsNotEnough) {
  MappedMemory memory;
  ASSERT_TRUE(memory.Allocate(10));
  EXPECT_FALSE(memory.Allocate(SIZE_MAX / 2));
  EXPECT_EQ(memory.data(), nullptr);
  EXPECT_TRUE(memory.Allocate(0));
  EXPECT_EQ(memory.bytes(), 0u);
}

}  // namespace
}  // namespace mace
