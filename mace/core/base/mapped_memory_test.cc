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
  MappedMemory memory = MapMemory(kBytes);
  ASSERT_NE(memory, nullptr);
  auto *data = static_cast<unsigned char *>(memory.get());
  EXPECT_TRUE(std::all_of(data, data + kBytes, [](int v) { return v == 0; }));
  data[kBytes - 1] = 5;
  const MappedMemory other = std::move(memory);
  EXPECT_EQ(other.get(), data);
  EXPECT_EQ(BytesOf(other), kBytes);
  EXPECT_EQ(data[kBytes - 1], 5);
}

TEST(MappedMemoryTest, TellsThatThereIsNotEnough) {
  // Rounded up to pages, it is more than there are addresses.
  EXPECT_EQ(MapMemory(SIZE_MAX - 100), nullptr);
  EXPECT_NE(MapMemory(0), nullptr);
}

}  // namespace
}  // namespace mace
