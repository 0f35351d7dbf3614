// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs an operator as a chain would: band by band, each from only the rows that
// it requested.

#ifndef MACE_OPS_TESTING_RUN_IN_BANDS_H_
#define MACE_OPS_TESTING_RUN_IN_BANDS_H_

#include <string>
#include <vector>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/testing/guarded_buffer.h"

namespace mace::op_test {

// Replaces Op::Run. `inputs` and `outputs` are those of `context`. Runs bands
// of random heights in random order; the input, the output (unless its rows are
// strided, or it is in an input) and the scratch memory of each band are
// between guard zones. Returns the rule of row_bands.h that was broken; empty
// if none.
std::string RunInBands(const RowBands &bands,
                       const RunContext &context,
                       Tensor *input,
                       Tensor *output,
                       bool in_place);

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_RUN_IN_BANDS_H_
