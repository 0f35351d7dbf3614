// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/rows_apart.h"

#include <algorithm>

namespace mace::op_test {

size_t SpreadBytes(const Tensor &tensor) {
  const int64_t rows = tensor.elements() / tensor.row_length();
  return static_cast<size_t>((rows - 1) * tensor.RowStride() +
                             tensor.row_length()) *
         DataTypeSize(tensor.data_type);
}

void ScatterRows(const Tensor &tensor, const uint8_t *dense) {
  const auto size = static_cast<int64_t>(DataTypeSize(tensor.data_type));
  const int64_t row_bytes = tensor.row_length() * size;
  auto *to = static_cast<uint8_t *>(tensor.data);
  for (int64_t row = 0; row * row_bytes < tensor.bytes(); ++row) {
    std::copy(dense + row * row_bytes, dense + (row + 1) * row_bytes,
              to + row * tensor.RowStride() * size);
  }
}

bool GatherRows(const Tensor &tensor, uint8_t *dense) {
  const auto size = static_cast<int64_t>(DataTypeSize(tensor.data_type));
  const int64_t row_bytes = tensor.row_length() * size;
  const int64_t stride = tensor.RowStride() * size;
  bool clean = true;
  const auto *from = static_cast<const uint8_t *>(tensor.data);
  for (int64_t row = 0; row * row_bytes < tensor.bytes(); ++row) {
    const uint8_t *begin = from + row * stride;
    std::copy(begin, begin + row_bytes, dense + row * row_bytes);
    if ((row + 1) * row_bytes < tensor.bytes()) {
      clean = clean && std::all_of(begin + row_bytes, begin + stride,
                                   [](uint8_t byte) { return byte == 0xff; });
    }
  }
  return clean;
}

}  // namespace mace::op_test
