// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_HEAP_SORT_H_
#define MACE_CORE_BASE_HEAP_SORT_H_

#include <algorithm>
#include <functional>

namespace mace {

// In place, n log n comparisons at most; equal elements come in any order. For
// lists that are sorted once, where std::sort is 1.5 KB of code for each type
// of element and this a third of it.
template <typename Iterator, typename Less = std::less<>>
void HeapSort(Iterator begin, Iterator end, Less less = Less()) {
  std::make_heap(begin, end, less);
  std::sort_heap(begin, end, less);
}

}  // namespace mace

#endif  // MACE_CORE_BASE_HEAP_SORT_H_
