// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Makes one allocation fail, or all from it on. A program that links this has
// its operator new replaced: let it hold nothing but such tests.

#ifndef MACE_CORE_TESTING_FAILING_ALLOCATION_H_
#define MACE_CORE_TESTING_FAILING_ALLOCATION_H_

#include <cstdint>

namespace mace {
namespace core_test {

// While it lives, allocation number `n` (from 1) of the process fails, and
// those after it as well if `fail_on`. One at a time.
class FailingAllocation {
 public:
  FailingAllocation(int64_t n, bool fail_on);
  ~FailingAllocation() { Disarm(); }
  FailingAllocation(const FailingAllocation &) = delete;
  FailingAllocation &operator=(const FailingAllocation &) = delete;

  // No more failures; whether an allocation did fail.
  static bool Disarm();
};

}  // namespace core_test
}  // namespace mace

#endif  // MACE_CORE_TESTING_FAILING_ALLOCATION_H_
