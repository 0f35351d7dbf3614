// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Cases of any operator, generated only from its schema: random shapes, types
// and attributes, including malformed ones. Many cases are invalid.

#ifndef MACE_OPS_TESTING_RANDOM_CASE_H_
#define MACE_OPS_TESTING_RANDOM_CASE_H_

#include <cstdint>
#include <vector>

#include "mace/core/model/op.h"
#include "mace/core/model/op_schema.h"
#include "mace/ops/testing/op_case.h"

namespace mace::op_test {

// All operators that are linked in, without those that end a loop.
std::vector<const OpRegistration *> CpuOps();

// Random numbers for one operator, so that a new operator does not change the
// cases of the others.
Random RandomOf(const OpRegistration &op, uint32_t seed);

OpCase RandomCase(const OpSchema &schema, Random *random);

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_RANDOM_CASE_H_
