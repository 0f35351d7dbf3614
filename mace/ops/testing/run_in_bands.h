// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs an operator as a chain would: band by band, each from the rows that it
// asks for and no others.

#ifndef MACE_OPS_TESTING_RUN_IN_BANDS_H_
#define MACE_OPS_TESTING_RUN_IN_BANDS_H_

#include <string>
#include <vector>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/testing/guarded_buffer.h"

namespace mace::op_test {

// In place of Op::Run. `inputs` and `outputs` are those of `context`. Bands of
// random heights in random order; each finds its input, output (unless rows of
// it are apart, or it lies in an input) and scratch between guard zones.
// Returns which rule of row_bands.h was broken; empty if none.
std::string RunInBands(const RowBands &bands,
                       const RunContext &context,
                       Tensor *input,
                       Tensor *output,
                       bool in_place);

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_RUN_IN_BANDS_H_
