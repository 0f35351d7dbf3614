// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/near_names.h"

#include <algorithm>
#include <utility>

#include "mace/core/base/heap_sort.h"

namespace mace {
namespace {

// Levenshtein distance, with a name that contains the other counted as near.
size_t Distance(const std::string &a, const std::string &b) {
  if (a.find(b) != std::string::npos || b.find(a) != std::string::npos) {
    return 1;
  }
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearNames(const std::string &name,
                      const std::vector<std::string> &known) {
  constexpr size_t kShown = 5;
  // Names come from files: a malicious name must not cost quadratic time.
  constexpr size_t kMaxLength = 200;
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t i = 0; i < known.size(); ++i) {
    const size_t distance =
        Distance(name.substr(0, kMaxLength), known[i].substr(0, kMaxLength));
    order.emplace_back(distance, i);
  }
  if (known.size() > kShown) HeapSort(order.begin(), order.end());
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kShown); ++i) {
    if (i > 0) text += ", ";
    text += "'" + known[order[i].second] + "'";
  }
  return text.empty() ? "none" : text;
}

}  // namespace mace
