// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tensors whose rows lie apart, with poison (guarded_buffer.h) between them.

#ifndef MACE_OPS_TESTING_ROWS_APART_H_
#define MACE_OPS_TESTING_ROWS_APART_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/model/op.h"

namespace mace::op_test {

// Elements between rows that are apart: no multiple of a vector.
inline constexpr int64_t kRowGap = 5;

// From the first element of the tensor to its last.
size_t SpreadBytes(const Tensor &tensor);

// Dense values to where the tensor lies.
void ScatterRows(const Tensor &tensor, const uint8_t *dense);

// The reverse. False if something else than poison lies between the rows.
bool GatherRows(const Tensor &tensor, uint8_t *dense);

}  // namespace mace::op_test

#endif  // MACE_OPS_TESTING_ROWS_APART_H_
