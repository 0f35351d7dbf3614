// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tensors with strided rows, with poison (guarded_buffer.h) between them.

#ifndef MACE_OPS_TESTING_ROWS_APART_H_
#define MACE_OPS_TESTING_ROWS_APART_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/model/op.h"

namespace mace::op_test {

// Elements between strided rows: not a multiple of a vector.
inline constexpr int64_t kRowGap = 5;

// Bytes from the first element of the tensor to its last.
size_t SpreadBytes(const Tensor &tensor);

// Copies dense values into the tensor.
void ScatterRows(const Tensor &tensor, const uint8_t *dense);

// The reverse. Returns false if the poison between rows was overwritten.
bool GatherRows(const Tensor &tensor, uint8_t *dense);

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_ROWS_APART_H_
