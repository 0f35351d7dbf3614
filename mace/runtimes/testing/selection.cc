// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The list of operators that the library claims to have: TestLeftOut and
// TestMissing exist, but not in this program.

#include "mace/core/model/op.h"

namespace mace {
namespace core_test {
namespace {

// Like a library with selected operators.
const OpSelection selection("TestAffine\0TestLeftOut\0TestMissing\0");

}  // namespace
}  // namespace core_test
}  // namespace mace
