// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/near_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mace {
namespace {

TEST(NearNamesTest, ListsAllOfFewInTheirOrder) {
  EXPECT_EQ(NearNames("x", {"input", "mask"}), "'input', 'mask'");
  EXPECT_EQ(NearNames("x", {}), "none");
}

TEST(NearNamesTest, ListsTheNearestOfMany) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("layer" + std::to_string(i * i));
  names.push_back("logits:0");
  names.push_back("logitz");
  const std::string text = NearNames("logits", names);
  EXPECT_EQ(text.find("'logits:0', 'logitz'"), 0u) << text;
}

}  // namespace
}  // namespace mace
