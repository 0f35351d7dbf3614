// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators that the library has: TestLeftOut and TestMissing exist, but
// not in this program.

#include "mace/core/model/op.h"

namespace mace {
namespace core_test {
namespace {

// As a library with some operators only has it.
constexpr const char *kAllTypes[] = {"TestAffine", "TestLeftOut",
                                     "TestMissing"};
const OpSelection selection(kAllTypes, 3);

}  // namespace
}  // namespace core_test
}  // namespace mace
