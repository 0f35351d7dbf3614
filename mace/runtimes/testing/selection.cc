// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The list of operators that the library claims to have: TestLeftOut and
// TestMissing exist, but not in this program.

#include "mace/core/model/op.h"

namespace mace {
namespace core_test {
namespace {

// Like a library with selected operators.
constexpr const char *kAllTypes[] = {"TestAffine", "TestLeftOut",
                                     "TestMissing"};
const OpSelection selection(kAllTypes, 3);

}  // namespace
}  // namespace core_test
}  // namespace mace
