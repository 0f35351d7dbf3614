// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_MISSING_PART_H_
#define MACE_CORE_BASE_MISSING_PART_H_

namespace mace {

// What messages about a part that the library lacks begin with, and what they
// advise after it; ", or add -ops=PART" may follow.
extern const char kBuiltWithout[];  // "this library was built without "
extern const char kBuildForThisModel[];

}  // namespace mace

#endif  // MACE_CORE_BASE_MISSING_PART_H_
