// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Makes one allocation fail, or all allocations from then on. This replaces the
// operator new of a program that links it: such a program should contain only
// tests of failing allocations.

#ifndef MACE_CORE_TESTING_FAILING_ALLOCATION_H_
#define MACE_CORE_TESTING_FAILING_ALLOCATION_H_

#include <cstdint>

namespace mace {
namespace core_test {

// While the object lives, allocation number `n` (from 1) of the process fails,
// and the later ones as well if `fail_on`. Use one object at a time.
class FailingAllocation {
 public:
  FailingAllocation(int64_t n, bool fail_on);
  ~FailingAllocation() { Disarm(); }
  FailingAllocation(const FailingAllocation &) = delete;
  FailingAllocation &operator=(const FailingAllocation &) = delete;

  // Ends the failures; returns whether an allocation failed.
  static bool Disarm();
};

}  // namespace core_test
}  // namespace mace

#endif  // MACE_CORE_TESTING_FAILING_ALLOCATION_H_
