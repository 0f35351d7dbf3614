// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs an operator as a chain would: band by band, each from only the rows that
// it requested.

#ifndef MACE_OPS_TESTING_RUN_IN_BANDS_H_
#define MACE_OPS_TESTING_RUN_IN_BANDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/model/op.h"
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

// Tensors with strided rows, with poison (guarded_buffer.h) between them.

// Elements between strided rows: not a multiple of a vector.
inline constexpr int64_t kRowGap = 5;

// Bytes from the first element of the tensor to its last.
size_t SpreadBytes(const Tensor &tensor);

// Copies dense values into the tensor.
void ScatterRows(const Tensor &tensor, const uint8_t *dense);

// The reverse. Returns false if the poison between rows was overwritten.
bool GatherRows(const Tensor &tensor, uint8_t *dense);

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_RUN_IN_BANDS_H_
